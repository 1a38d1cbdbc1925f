import { userLevels } from '../../src/domain/access.ts'
import { mutate, personWith } from '../support/people.ts'
import type { Caller } from './ways.ts'

/** Creates a user of each level with the given token, and a caller without a token. */
export async function createCallers(url: string, secret: string): Promise<Caller[]> {
  const admin = personWith(url, secret)
  const callers: Caller[] = [{ name: 'anonymous', token: null }]
  for (const level of userLevels) {
    const name = `fuzz-${level.toLowerCase()}`
    const { user } = await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })
    const { secret: token } = await mutate(admin, 'createToken', { input: { name, userId: user.id }, wanted: 'secret' })
    callers.push({ name, token })
  }
  return callers
}
