/** Where the console is: the path that the service wrote into the page, such as `/console` or `/ai/console`. */
export const consoleBase = new URL(document.baseURI).pathname.replace(/\/+$/, '');

/** The service that sent the page, as a path of its origin; empty for the root. */
export const ownService = consoleBase.replace(/\/console$/, '');
