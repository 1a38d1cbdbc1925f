/** The WebSockets of sessions are below this path. */
export const sessionPath = '/session/'
