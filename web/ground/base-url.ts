/** The URL of the console, including the path prefix of a proxy. `pushState` does not change it. */
export const baseUrl: string = new URL('.', document.baseURI).href
