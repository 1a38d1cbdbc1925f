import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { section } from './keys.ts'
import { ConfigError, matching, text, url } from './value.ts'

export const s3Section = section({
  bucket: matching('a name of a bucket', /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'berth-files'),
  endpoint: url(['http:', 'https:'], { what: 'an HTTP URL', example: 'https://s3.eu-central-1.amazonaws.com' }),
  region: text('eu-central-1').default('us-east-1'),
  accessKeyId: text('AKIAIOSFODNN7EXAMPLE'),
  secretAccessKey: text('wJalrXUtnFEMI').optional(),
  secretAccessKeyFile: text('/etc/berth/s3-secret').optional(),
})

export interface S3Config extends Omit<z.output<typeof s3Section>, 'secretAccessKey' | 'secretAccessKeyFile'> {
  secretAccessKey: string
}

const path = 'files.s3.secretAccessKeyFile'

/** Reads the secret from the configuration, usually by a variable, or from a file, relative to `folder`. */
export function toS3Config(
  { secretAccessKey, secretAccessKeyFile, ...rest }: z.output<typeof s3Section>,
  folder: string,
): S3Config {
  if (secretAccessKey !== undefined && secretAccessKeyFile === undefined) return { ...rest, secretAccessKey }
  if (secretAccessKey !== undefined || secretAccessKeyFile === undefined)
    throw new ConfigError([
      { path: 'files.s3', reason: 'needs secretAccessKey or secretAccessKeyFile', remedy: 'set one' },
    ])
  try {
    return { ...rest, secretAccessKey: readFileSync(resolve(folder, secretAccessKeyFile), 'utf8').trim() }
  } catch (error) {
    const reason = `${JSON.stringify(secretAccessKeyFile)} cannot be read (${error instanceof Error ? error.message : error})`
    throw new ConfigError([{ path, reason, remedy: 'name a file with the secret access key' }])
  }
}
