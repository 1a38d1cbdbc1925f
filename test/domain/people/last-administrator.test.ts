import { expect, it } from 'vitest'
import { createUser, updateUser } from '../../../src/domain/people/users.ts'
import { createTestDomain } from '../../support/domain.ts'

it.each([true, false])('the last ADMIN keeps the level except in single-user mode (it is %s)', async (singleUser) => {
  await using world = await createTestDomain({ singleUser })
  const { domain, admin } = world.it
  const [first, second] = await Promise.all(
    ['first', 'second'].map((name) => createUser(domain, admin, { name, level: 'ADMIN' })),
  )
  const lower = (user = { id: '' }) => updateUser(domain, admin, { id: user.id, level: 'LEAD' })
  await lower(first)
  // `admin` is the user of single-user mode here, who cannot log in in multi-user mode.
  if (singleUser) await lower(second)
  else await expect(lower(second)).rejects.toThrow('second is the last ADMIN')
})
