import { useCallback, useEffect, useState } from 'react';
import { newId } from './new-id.js';

/** The session of the address. Without one, the id of a session that begins with the first message. */
export function useSessionId(inAddress: string | undefined) {
  const [fresh, setFresh] = useState(newId);
  // a session that has begun is an ordinary one when it is opened again
  useEffect(() => {
    if (inAddress !== undefined) setFresh((id) => (id === inAddress ? id : newId()));
  }, [inAddress]);
  const startNew = useCallback(() => setFresh(newId()), []);
  return {
    sessionId: inAddress ?? fresh,
    isNew: inAddress === undefined || inAddress === fresh,
    startNew,
  };
}
