/** Fills in the pages of the test issuer like a user with a browser. */

/** Follows the pages from `url` to the first page without a form, or to another site. Returns its URL. */
export async function followLogInPages(url: string, login: string): Promise<string> {
  const cookies = new Map<string, string>()
  const { origin } = new URL(url)
  let request: RequestInit & { url: string } = { url }
  for (let pages = 0; pages < pagesMax; pages++) {
    const headers = { cookie: [...cookies].map((cookie) => cookie.join('=')).join('; ') }
    const response = await fetch(request.url, { ...request, headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const target = response.headers.get('location')
    const page = await response.text()
    if (target !== null) {
      const next = new URL(target, request.url).href
      if (new URL(next).origin !== origin) return next
      request = { url: next }
      continue
    }
    const form = readForm(page)
    if (!form) return request.url
    if (form.fields.has('login')) form.fields.set('login', login)
    request = { url: new URL(form.action, request.url).href, method: 'POST', body: form.fields }
  }
  throw new Error(`More than ${pagesMax} pages after ${url}`)
}

const pagesMax = 20

function readForm(page: string): { action: string; fields: URLSearchParams } | null {
  const [form, action] = /<form[^>]* action="([^"]*)"[\s\S]*?<\/form>/.exec(page) ?? []
  if (!form || action === undefined) return null
  const inputs = [...form.matchAll(/<input [^>]*name="([^"]+)"[^>]*>/g)]
  const fields = inputs.map(([input, name = '']) => [name, /value="([^"]*)"/.exec(input)?.[1] ?? 'any'])
  return { action: action.replaceAll('&amp;', '&'), fields: new URLSearchParams(fields) }
}
