const reloadedKey = 'berth-reloaded-at'
const reloadPauseMs = 60_000

/**
 * Loads a part of the console. After an update of the server the parts of the old console are gone:
 * the page is loaded again, once, and the promise stays pending until then.
 */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  load().catch((error: unknown) => {
    const reloadedMs = Number(sessionStorage.getItem(reloadedKey) ?? 0)
    if (Date.now() - reloadedMs < reloadPauseMs)
      throw new Error('A part of the console could not be loaded.', { cause: error })
    sessionStorage.setItem(reloadedKey, String(Date.now()))
    location.reload()
    return new Promise<never>(() => {})
  })
