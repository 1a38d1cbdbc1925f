import { expect, it } from 'vitest'
import { type AccountShare, listShares } from '../../web/features/machines/account-shares.ts'

const share = (account: string, more: Partial<AccountShare> = {}): AccountShare => ({
  account,
  occupancy: 0,
  decayedUse: null,
  share: 0,
  weight: 1,
  running: 0,
  queued: 0,
  ...more,
})

it('the fair share of an account is divided among its child accounts by their weights', () => {
  const rows = listShares(
    [
      share('ml', { weight: 3, share: 0.2 }),
      share('ml.vision', { share: 0.5 }),
      share('ml.speech.asr', { weight: 2, share: 0.1 }),
      share('users.ann', { share: 0.1 }),
    ],
    true,
  )
  expect(rows.map(({ account, depth, due }) => [account, depth, due])).toEqual([
    ['users.ann', 0, 0.25],
    ['ml', 0, 0.75],
    ['ml.speech.asr', 1, 0.5],
    ['ml.vision', 1, 0.25],
  ])
})

it('the share that an account holds is occupancy × weight, and with a half-life decayed use × weight', () => {
  const [now] = listShares([share('ml', { weight: 2, occupancy: 0.25 })], true)
  expect(now).toMatchObject({ heldNow: 0.5, heldLately: null })
  const [lately] = listShares([share('ml', { weight: 2, occupancy: 0.25, decayedUse: 0.1 })], true)
  expect(lately).toMatchObject({ heldNow: 0.5, heldLately: 0.2 })
})

it('the fair share is unknown if the viewer does not see all accounts', () =>
  expect(listShares([share('ml', { occupancy: 0.25 })], false)).toMatchObject([{ heldNow: 0.25, due: null }]))
