import { expect, it } from 'vitest'
import { KeyedLimit } from '../../src/graphql/keyed-limit.ts'
import { data } from '../support/client.ts'
import { startServer } from '../support/server.ts'

function asked() {
  const limit = new KeyedLimit(100)
  const begun: string[] = []
  /** Resolves when it begins, to the function that ends it. */
  const ask = (name: string, user: string, cost: number) =>
    new Promise<() => void>((begins) => {
      void limit.run(user, cost, () => {
        const { promise, resolve: end } = Promise.withResolvers<void>()
        begun.push(name)
        begins(end)
        return promise
      })
    })
  const settled = async () => {
    await new Promise(setImmediate)
    return begun.splice(0)
  }
  return { ask, settled }
}

it('the tasks of a key start in order of arrival while the sum of their costs is within the limit', async () => {
  const { ask, settled } = asked()
  const first = ask('first', 'ann', 60)
  const second = ask('second', 'ann', 40)
  const third = ask('third', 'ann', 50)
  const small = ask('small', 'ann', 1)
  expect(await settled()).toEqual(['first', 'second'])
  ;(await second)()
  expect(await settled()).toEqual([])
  ;(await first)()
  expect(await settled()).toEqual(['third', 'small'])
  ;(await third)()
  ;(await small)()
  void ask('later', 'ann', 100)
  expect(await settled()).toEqual(['later'])
})

it('a task does not wait for tasks of another key', async () => {
  const { ask, settled } = asked()
  void ask('of ann', 'ann', 100)
  void ask('of ann again', 'ann', 1)
  void ask('of bob', 'bob', 100)
  expect(await settled()).toEqual(['of ann', 'of bob'])
})

it('the end of a task with the cost 0 frees nothing for the tasks that wait', async () => {
  const { ask, settled } = asked()
  const [first, late] = [ask('first', 'ann', 0), ask('late', 'ann', 0)]
  ;(await first)()
  void ask('large', 'ann', 100)
  ;(await late)()
  void ask('next', 'ann', 100)
  expect(await settled()).toEqual(['first', 'late', 'large'])
})

it('a task that costs more than the limit starts when no other task of its key runs', async () => {
  const { ask, settled } = asked()
  const small = ask('small', 'ann', 1)
  void ask('large', 'ann', 101)
  expect(await settled()).toEqual(['small'])
  ;(await small)()
  expect(await settled()).toEqual(['large'])
})

it('a task that waited too long is refused, and the next one starts', async () => {
  const limit = new KeyedLimit(100, { msMax: 5, refusal: () => new Error('waited') })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = limit.run('ann', 60, () => promise)
  await expect(limit.run('ann', 60, () => 'large')).rejects.toThrow('waited')
  await expect(limit.run('ann', 40, () => 'small')).resolves.toBe('small')
  resolve()
  await first
  await expect(limit.run('ann', 100, () => 'later')).resolves.toBe('later')
})

it('an acquisition above the limit evicts the oldest one of the same key', () => {
  const limit = new KeyedLimit(2)
  const evicted: string[] = []
  const acquire = (key: string, name: string) => limit.acquireByEviction(key, () => evicted.push(name))
  const leave = acquire('a', 'first')
  acquire('a', 'second')
  acquire('b', 'other')
  leave()
  acquire('a', 'third')
  expect(evicted).toEqual([])
  acquire('a', 'fourth')
  expect(evicted).toEqual(['second'])
  leave()
  acquire('a', 'fifth')
  expect(evicted).toEqual(['second', 'third'])
})

it('a request waits while running requests of its user have the maximum cost', async () => {
  await using server = await startServer()
  const id = await server.submit()
  const pages = Array.from({ length: 19 }, (_, i) => `a${i}: logs(first: ${i + 1}) { text }`)
  const answered: string[] = []
  const ask = (name: string, fields: string) =>
    data(server.url, `{ job(id: "${id}") { ${fields} } }`).then(() => answered.push(name))
  const large = Array.from({ length: 8 }, () => ask('large', pages.join(' ')))
  await Promise.all([...large, ask('small', 'state')])
  expect(answered.indexOf('small')).toBeGreaterThan(3)
})
