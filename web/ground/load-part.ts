const reloadedKey = 'berth-reloaded-at'
const reloadPauseMs = 60_000

/** Stylesheets that did not load: the import of a part asks for each of them only once. */
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
 * Loads a part of the console, and tries a second time. After an update of the server the parts of the old console are
 * gone: the page is loaded again, once, and the promise stays pending until then.
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
