import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'

const load = (yaml: string) => loadConfig({ argv: ['--config', 'berth.yaml'], env: {}, readFile: () => yaml })

describe('trusted proxies', () => {
  it('may be addresses and networks', () => {
    const { trustedProxies } = load('server: { trustedProxies: [127.0.0.1, 10.0.0.0/8, "fd00::/8"] }').server
    expect(trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
    for (const wrong of ['proxy.example.org', '10.0.0.0/33', '10.0.0.0/', '"*"'])
      expect(() => load(`server: { trustedProxies: [${wrong}] }`)).toThrow('server.trustedProxies[0]')
  })
})

describe('a certificate', () => {
  it('is read from files relative to the configuration, and requires a public URL', () => {
    const { tls } = load(
      'server: { publicUrl: "https://berth.example.org", tls: { cert: a.crt, key: /keys/a.key } }',
    ).server
    expect(tls).toEqual({ cert: resolve('a.crt'), key: '/keys/a.key' })
    for (const publicUrl of ['', 'publicUrl: "http://berth.example.org", '])
      expect(() => load(`server: { ${publicUrl}tls: { cert: a.crt, key: a.key } }`)).toThrow(
        'server.publicUrl: is missing or not https',
      )
  })
})
