import { existsSync } from 'node:fs'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'

const executablePath = process.env['BERTH_TEST_CHROMIUM'] ?? '/usr/bin/chromium'

/** Prints why tests are skipped if Chromium is missing. */
export function hasChromium(): boolean {
  const isThere = existsSync(executablePath)
  if (!isThere)
    console.error(
      `SKIPPED: Chromium not found at ${executablePath}. Install it, or set BERTH_TEST_CHROMIUM to its path.`,
    )
  return isThere
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchChromium = ({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({ ...options, executablePath, args: [...flags, ...args] })
