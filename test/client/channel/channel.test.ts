import { describe, expect, it } from 'vitest'
import { Random } from '../../../simulate/random.ts'
import { Channel, ChannelBroken, windowBytes } from '../../../src/client/channel/channel.ts'
import { encodeFrame, kinds } from '../../../src/client/channel/frames.ts'

/** Two ends over a connection that, when it is cut, loses all data in transit. */
class Link {
  readonly random: Random
  readonly ends: readonly [End, End]
  cuts = 0
  #generation = 0

  constructor(seed: number) {
    this.random = new Random(seed)
    this.ends = [new End(), new End()]
    this.connect()
  }

  /** Cuts the connection, and opens a new one. */
  connect(): void {
    this.cuts += 1
    this.#generation += 1
    const generation = this.#generation
    for (const end of this.ends) end.channel.detach()
    const [one, other] = this.ends
    const before = [one.channel.received, other.channel.received] as const
    for (const [from, to, received] of [
      [one, other, before[1]],
      [other, one, before[0]],
    ] as const) {
      let arrived = Promise.resolve()
      const send = (bytes: Uint8Array) => {
        const waits = this.random.between(0, 3)
        arrived = arrived.then(async () => {
          for (let i = 0; i < waits; i++) await null
          if (generation === this.#generation) to.channel.receive(bytes)
        })
      }
      from.channel.attach({ send }, received)
    }
  }
}

class End {
  taken: string[] = []
  failures: Error[] = []
  slow: Promise<void> = Promise.resolve()
  readonly channel = new Channel({
    take: async (kind, payload) => {
      await this.slow
      this.taken.push(`${kind} ${Buffer.from(payload).toString('latin1')}`)
    },
    onFailure: (error) => this.failures.push(error),
  })
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('a channel', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'loses and duplicates no byte in either direction over many lost connections (seed %i)',
    async (seed) => {
      const link = new Link(seed)
      const sent = [[], []] as [string[], string[]]
      for (let step = 0; step < 2_000; step++) {
        const at = link.random.chance(0.5) ? 0 : 1
        const text = 'x'.repeat(link.random.between(0, 50)) + step
        sent[at].push(`${kinds.stdout} ${text}`)
        void link.ends[at].channel.send(kinds.stdout, Buffer.from(text))
        if (link.random.chance(0.1)) await null
        if (link.random.chance(0.03)) link.connect()
      }
      link.connect()
      while (link.ends.some((end, at) => end.taken.length < (sent[1 - at]?.length ?? 0))) await settle()
      expect(link.cuts).toBeGreaterThan(30)
      expect([link.ends[1].taken, link.ends[0].taken]).toEqual(sent)
      expect(link.ends.flatMap(({ failures }) => failures)).toEqual([])
    },
  )

  it('makes the sender wait while the receiver reads nothing, also after a lost connection', async () => {
    const link = new Link(1)
    const [sender, receiver] = link.ends
    const gate = Promise.withResolvers<void>()
    receiver.slow = gate.promise
    const block = Buffer.alloc(65_536)
    let sends = 0
    const sending = (async () => {
      for (; sends < 32; sends++) await sender.channel.send(kinds.stdin, block)
    })()
    await settle()
    link.connect()
    await settle()
    expect(sends * block.length).toBeLessThanOrEqual(windowBytes + block.length)
    expect(sends).toBeGreaterThan(0)
    gate.resolve()
    await sending
    while (receiver.taken.length < 32) await settle()
    expect(receiver.failures).toEqual([])
  })

  it.each([
    ['a message that is too short', Buffer.from('x')],
    ['a gap in the numbers', encodeFrame({ kind: kinds.stdin, number: 2, payload: new Uint8Array() })],
    [
      'an acknowledgement of a frame that was not sent',
      encodeFrame({ kind: kinds.ack, number: 1, payload: new Uint8Array() }),
    ],
  ])('refuses %s', (_, bytes) => {
    const end = new End()
    end.channel.receive(bytes)
    expect(end.failures).toEqual([expect.any(ChannelBroken)])
  })

  it('counts an empty frame as 512 bytes toward the window, in both directions', async () => {
    const [sender, receiver] = [new End(), new End()]
    let mayContinue = false
    for (let sent = 0; sent <= 512; sent++)
      void sender.channel.send(kinds.stdin).then(() => {
        mayContinue = sent === 512
      })
    await settle()
    expect(mayContinue).toBe(false)
    receiver.slow = new Promise(() => undefined)
    for (let number = 1; number <= 1_025; number++)
      receiver.channel.receive(encodeFrame({ kind: kinds.resize, number, payload: new Uint8Array() }))
    expect(receiver.failures).toEqual([expect.objectContaining({ message: 'The peer sent more than the window' })])
  })

  it('is closed if the peer sends more than the window allows', () => {
    const end = new End()
    end.slow = new Promise(() => undefined)
    for (let number = 1; number <= 16 && end.failures.length === 0; number++)
      end.channel.receive(encodeFrame({ kind: kinds.stdin, number, payload: Buffer.alloc(65_536) }))
    expect(end.failures).toEqual([expect.objectContaining({ message: 'The peer sent more than the window' })])
  })
})
