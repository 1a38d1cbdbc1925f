import { ServerInfoDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'

/**
 * Opens an address, if a person sees the output. A machine without a browser does nothing. The address is from a server,
 * which must not choose another program than the browser.
 */
export async function openBrowser({ terminal }: Pick<Cli, 'terminal'>, address: string): Promise<void> {
  if (!Number.isFinite(terminal.columns) || !/^https?:/.test(address)) return
  const { default: open } = await import('open')
  await open(address).catch(() => undefined)
}

/** The address of a page of the console, such as `/jobs`. */
export async function findConsolePage(cli: Cli, path: string): Promise<string> {
  const { serverInfo } = await cli.connection().request(ServerInfoDocument, {})
  return new URL(`.${path}`, `${(serverInfo.publicUrl ?? cli.connection().url).replace(/\/$/, '')}/`).href
}
