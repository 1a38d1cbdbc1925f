import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema } from 'graphql'
import { root } from '../../support/sources.ts'

/** The published schema. */
export const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'))
