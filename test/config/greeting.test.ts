import { expect, it } from 'vitest'
import { formatGreeting } from '../../src/config/greeting.ts'

const ready = { version: '1.0.0', url: 'http://127.0.0.1:4000', port: 4000, singleUser: true }

it('the greeting shows the URL of the server, and commands that connect to it', () => {
  expect(formatGreeting(ready)).toMatch(/is ready at http:\/\/127\.0\.0\.1:4000\n/)
  expect(formatGreeting({ ...ready, url: 'http://127.0.0.1:4100', port: 4100 })).toMatch(
    /BERTH_URL=http:\/\/127\.0\.0\.1:4100 \S+ submit/,
  )
})

it('the greeting shows an address that a browser can open if the server listens on all addresses', () => {
  const text = formatGreeting({ ...ready, url: 'http://0.0.0.0:4000', singleUser: false })
  expect(text).toContain('is ready at http://127.0.0.1:4000 and at all addresses of this machine\n')
  expect(text).toMatch(/login http:\/\/127\.0\.0\.1:4000\n/)
  expect(text).not.toContain('0.0.0.0')
})

it('the greeting of a server without the API shows no URL', () => {
  expect(formatGreeting({ ...ready, url: null })).toBe(
    '\nBerth 1.0.0 is ready: it schedules jobs and serves no API\n\n',
  )
})
