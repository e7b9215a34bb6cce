import { agent, team } from 'runyard';
import { innerTeam, members, teamModes } from '../team-plan.js';
import { leadingModel, plannedModel } from './models.js';
import { tools } from './tools.js';

const [ada, bob, cleo] = members.map((id) => agent({ id, model: plannedModel(id), tools }));

export const agents = { ada: ada!, bob: bob!, cleo: cleo! };

const everybody = Object.values(agents);
const crew = team({ id: innerTeam, model: leadingModel(innerTeam, 'coordinate'), members: everybody });

/** One for each mode; the one that coordinates has a team among its members. */
export const teams = teamModes.map((mode) =>
  team({
    id: mode,
    mode,
    model: leadingModel(mode, mode),
    members: mode === 'coordinate' ? [...everybody, crew] : everybody,
  }),
);
