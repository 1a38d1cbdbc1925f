/** The folder of the console, also below the path of a proxy. `pushState` does not change it. */
export const baseUrl: string = new URL('.', document.baseURI).href
