import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'

describe('secrets in files', () => {
  const files: Record<string, string> = {
    '/run/url': 'postgresql://berth@db/berth\n',
    '/run/token': 'a-secret-token\n',
  }
  const readFile = (path: string) => {
    const content = files[path]
    if (content === undefined) throw new Error('ENOENT: no such file')
    return content
  }
  const loadWith = (env: Record<string, string>) => loadConfig({ argv: [], env, readFile })

  it('are read like variables, without the newline at the end of the file', () => {
    const config = loadWith({ DATABASE_URL_FILE: '/run/url', BERTH_BOOTSTRAP_TOKEN_FILE: '/run/token' })
    expect(config.database.url).toBe('postgresql://berth@db/berth')
    expect(config.auth.bootstrapToken).toBe('a-secret-token')
    expect(JSON.stringify(config.serverEnvironment)).not.toContain('a-secret-token')
  })

  it('are rejected if the file is missing, or if the variable is set too', () => {
    expect(() => loadWith({ DATABASE_URL_FILE: '/run/none' })).toThrow(
      'DATABASE_URL_FILE: the file /run/none cannot be read (ENOENT: no such file); check its path and owner',
    )
    expect(() => loadWith({ DATABASE_URL_FILE: '/run/url', DATABASE_URL: 'postgresql://other/berth' })).toThrow(
      'DATABASE_URL_FILE: DATABASE_URL is set too; set one of them',
    )
  })
})
