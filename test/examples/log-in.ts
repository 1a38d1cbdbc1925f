import type { Browser } from 'playwright-core'
import { send } from '../support/client.ts'
import { demandNoComplaints, openAddress, photograph } from './drive.ts'

export interface LogIn {
  browser: Browser
  /** URL of a server that requires login. */
  serverUrl: string
  /** The secret of an ADMIN. */
  secret: string
  name: string
  url: string
}

/** A page requests a token, uses it, and requests another when it is revoked. */
export async function logIn({ browser, serverUrl, secret, name, url }: LogIn): Promise<void> {
  const ask = async (query: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
    const { text } = await send(serverUrl, { headers, body: JSON.stringify({ query }) })
    return JSON.parse(text).data
  }
  const { createToken } = await ask(
    `mutation { createToken(input: { name: "${name}" }) { ... on CreateTokenSuccess { secret token { id } } } }`,
  )
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
  const page = await openAddress(context, url)
  await page.getByText('This server wants a token').waitFor()
  await photograph(page, `${name}-log-in`)
  await page.getByLabel('Token').fill(createToken.secret)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Submit job' }).waitFor()
  await ask(`mutation { revokeToken(input: { tokenId: "${createToken.token.id}" }) { __typename } }`)
  await page.getByText('This server wants a token').waitFor()
  await context.close()
  demandNoComplaints()
}
