import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'

const load = (yaml: string) => loadConfig({ argv: ['--config', 'berth.yaml'], env: {}, readFile: () => yaml })

describe('trusted proxies', () => {
  it('are addresses and networks', () => {
    const { trustedProxies } = load('server: { trustedProxies: [127.0.0.1, 10.0.0.0/8, "fd00::/8"] }').server
    expect(trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
    for (const wrong of ['proxy.example.org', '10.0.0.0/33', '10.0.0.0/', '"*"'])
      expect(() => load(`server: { trustedProxies: [${wrong}] }`)).toThrow('server.trustedProxies[0]')
  })
})
