import { spawn } from 'node:child_process'
import type { Cli } from './cli.ts'

/**
 * Opens an address, if a person sees the output. A machine without a browser does nothing. The address is from a server,
 * which must not choose another program than the browser.
 */
export function openBrowser({ terminal }: Pick<Cli, 'terminal'>, address: string): void {
  if (!Number.isFinite(terminal.columns) || !/^https?:/.test(address)) return
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}
