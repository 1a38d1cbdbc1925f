const hiddenMs = 250

/** Runs a function before the next picture; soon, if the page is not visible. */
export function beforeNextPicture(run: () => void): void {
  if (document.hidden) setTimeout(run, hiddenMs)
  else requestAnimationFrame(run)
}
