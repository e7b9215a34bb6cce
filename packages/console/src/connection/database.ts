/** What the service keeps in each of its databases, by the first part of the address. */
const kept =
  /^\/(?:sessions|memories|memory_topics|user_memory_stats|optimize-memories|learnings|datasets|traces|trace_session_stats|metrics|eval-runs)(?:[/?]|$)/;

/** The database that the address of the page names. */
function databaseInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('db') ?? undefined;
}

/**
 * Sends requests to the database that the address of the page names. A service with several databases refuses
 * requests that name none; then its main database is meant.
 */
export function withDatabase(baseUrl: string, mainDatabase: () => Promise<string | undefined>): typeof fetch {
  let main: string | undefined;
  return async (input, init) => {
    const url = String(input);
    const isMeant = kept.test(url.slice(baseUrl.length)) && !/[?&]db_id=/.test(url);
    const named = isMeant ? (databaseInAddress() ?? main) : undefined;
    const response = await fetch(within(url, named), init);
    if (!isMeant || named !== undefined || !(await wantsDatabase(response))) return response;
    main = await mainDatabase();
    return main === undefined ? response : fetch(within(url, main), init);
  };
}

function within(url: string, database: string | undefined): string {
  if (database === undefined) return url;
  return `${url}${url.includes('?') ? '&' : '?'}db_id=${encodeURIComponent(database)}`;
}

/** It was refused before anything was done, so it can be sent again. */
async function wantsDatabase(response: Response): Promise<boolean> {
  if (response.status !== 400) return false;
  try {
    const body: unknown = await response.clone().json();
    return Object(body).error_code === 'database_required';
  } catch {
    return false;
  }
}
