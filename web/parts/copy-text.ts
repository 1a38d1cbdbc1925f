/** Also on pages that were not loaded over HTTPS or from loopback, which have no `navigator.clipboard`. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const copy = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', copy, { once: true })
  if (!document.execCommand('copy')) throw new Error('The browser does not allow copying')
}
