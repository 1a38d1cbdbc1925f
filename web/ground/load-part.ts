const reloadedKey = 'berth-reloaded-at'
const reloadPauseMs = 60_000

/** Stylesheets that failed to load. `import()` requests each stylesheet only once, so `loadStyle` requests them again. */
const failed = new Set<HTMLLinkElement>()
globalThis.addEventListener?.(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target)
  },
  { capture: true },
)

const loadStyle = (link: HTMLLinkElement): Promise<unknown> =>
  new Promise((done, fail) => {
    const again = link.cloneNode() as HTMLLinkElement
    again.addEventListener('load', done)
    again.addEventListener('error', fail)
    failed.delete(link)
    link.replaceWith(again)
  })

const loadWithStyles = async <Part>(load: () => Promise<Part>): Promise<Part> => {
  await Promise.all([...failed].map(loadStyle))
  return load()
}

/**
 * Loads a JavaScript chunk of the console, and retries once. After an update of the server the old chunks are gone: then
 * it reloads the page, once, and the promise stays pending.
 */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  loadWithStyles(load)
    .catch(() => loadWithStyles(load))
    .catch((error: unknown) => {
      const reloadedMs = Number(sessionStorage.getItem(reloadedKey) ?? 0)
      if (Date.now() - reloadedMs < reloadPauseMs)
        throw new Error('A part of the console could not be loaded.', { cause: error })
      sessionStorage.setItem(reloadedKey, String(Date.now()))
      location.reload()
      return new Promise<never>(() => {})
    })
