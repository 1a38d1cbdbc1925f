/** Prefix of the paths of session WebSockets. */
export const sessionPath = '/session/'
