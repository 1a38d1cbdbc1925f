import type { Cli } from '../frame/cli.ts'
import { Stop } from '../frame/exit.ts'
import { noCredential } from './new-credential.ts'

/** Removes the log-in from a context, and revokes it at the OpenID provider if possible. */
export async function logOut({ contexts, terminal }: Cli, name: string): Promise<void> {
  await contexts.withLock(name, async () => {
    const context = contexts.read(name)
    // Writes the file first, so that an interrupted command leaves no log-in behind.
    contexts.write(name, { url: context.url, ...noCredential })
    if (context.openId === null) return
    const { revokeLogIn } = await import('./open-id.ts')
    await revokeLogIn(context).catch((error: unknown) => {
      if (!(error instanceof Stop)) throw error
      terminal.say(`berth: the log-in is forgotten here, but not revoked: ${error.message}`)
    })
  })
}
