import { ServerInfoDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'

/**
 * Opens an address in the browser if stdout is a terminal and the machine has a browser. Refuses addresses that are not
 * http or https, because the server chose them, and they could start other programs.
 */
export async function openBrowser({ terminal }: Pick<Cli, 'terminal'>, address: string): Promise<void> {
  if (!Number.isFinite(terminal.columns) || !/^https?:/.test(address)) return
  const { default: open } = await import('open')
  await open(address).catch(() => undefined)
}

/** Returns the URL of a page of the console, such as `/jobs`. */
export async function findConsolePage(cli: Cli, path: string): Promise<string> {
  const { serverInfo } = await cli.connection().request(ServerInfoDocument, {})
  return new URL(`.${path}`, `${(serverInfo.publicUrl ?? cli.connection().url).replace(/\/$/, '')}/`).href
}
