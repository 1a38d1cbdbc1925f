const hiddenMs = 250

/** Calls `run` before the browser draws the next frame, or after a short timeout if the page is hidden. */
export function beforeNextPicture(run: () => void): void {
  if (document.hidden) setTimeout(run, hiddenMs)
  else requestAnimationFrame(run)
}
