import type { Page } from 'playwright-core'

/** A script that describes how the focused element, its ancestors and its pseudo-elements are drawn. */
const drawing = `((element) => {
  const title = document.getElementById(element.getAttribute('aria-labelledby') ?? '')
  const boxes = [element, title, element.parentElement, element.parentElement?.parentElement]
  const styles = boxes.flatMap((box) => box ? [getComputedStyle(box), getComputedStyle(box, '::after')] : [])
  return styles.map((style) =>
    [style.outlineStyle === 'none' ? '' : style.outlineWidth, style.boxShadow, style.borderColor, style.backgroundColor,
      style.textDecorationLine].join()).join(';')
})`

/** Returns the name of the focused element. Throws if it looks the same without the focus. */
export async function readFocus(page: Page): Promise<string> {
  const [name, isVisible] = await page.evaluate<[string, boolean]>(`(() => {
    const element = document.activeElement
    if (!element || element === document.body) return ['', false]
    const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText
    const draw = ${drawing}
    const focused = draw(element)
    element.blur()
    const plain = draw(element)
    element.focus({ preventScroll: true })
    return [(element.role ?? element.tagName.toLowerCase()) + ' ' + name.trim().split('\\n')[0], focused !== plain]
  })()`)
  if (!isVisible) throw new Error(name === '' ? 'Nothing has the focus' : `The focus of ${name} is not visible`)
  return name
}
