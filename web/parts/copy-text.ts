/** Also works on pages without `navigator.clipboard`, which browsers have only over HTTPS or from localhost. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const copy = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', copy)
  const isCopied = document.execCommand('copy')
  document.removeEventListener('copy', copy)
  if (!isCopied) throw new Error('The browser does not allow copying')
}
