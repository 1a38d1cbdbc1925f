import { expect, it } from 'vitest'
import { type InputField, inputTypes } from '../../web/generated/spec-fields.ts'
import { essentials, listViolationPaths, moreGroups } from '../../web/pages/submit/spec-fields.ts'
import { type DraftSpec, formatSpecText, markViolations } from '../../web/pages/submit/spec-text.ts'
import { readTypeErrors } from '../../web/pages/submit/violations.ts'
import { ask } from '../support/client.ts'
import { openTestServer } from '../support/server.ts'

/** A spec with a value of a wrong type in one field. */
interface WrongValue {
  path: string
  spec: unknown
}

/** Makes the required fields of an object. */
const fillRequired = (type: string) =>
  Object.fromEntries(
    Object.entries(inputTypes[type] ?? {}).flatMap(([name, field]) =>
      field.isRequired ? [[name, field.type.startsWith('Int') ? 1 : (field.values?.[0] ?? 'a')]] : [],
    ),
  )

function listWrongValues(type: string): WrongValue[] {
  return Object.entries(inputTypes[type] ?? {}).flatMap(([name, field]) => {
    const item = field.type.replaceAll(/[[\]!]/g, '')
    const isList = field.type.startsWith('[')
    const wrongItems = item in inputTypes ? listWrongValues(item) : [{ path: '', spec: chooseWrong(item, field) }]
    return wrongItems.map(({ path, spec }) => ({
      path: [name, ...(isList ? ['0'] : []), ...(path ? [path] : [])].join('.'),
      spec: { ...fillRequired(type), [name]: isList ? [spec] : spec },
    }))
  })
}

const chooseWrong = (type: string, { values }: InputField): unknown => {
  if (values) return 'WRONG'
  if (type === 'ID') return 1.5
  return type === 'String' ? 4_711 : 'wrong'
}

const wrongValues = listWrongValues('JobSpecInput')
const formPaths = [...essentials, ...moreGroups.flatMap(({ fields }) => fields.map(({ path }) => path))]
const query = `query ($input: PreviewJobInput!) { previewJob(input: $input) { __typename ... on Problem { message } } }`

const server = await openTestServer()

it.each(wrongValues)('a wrong value of $path is marked at its form field and in YAML', async ({ path, spec }) => {
  const { errors } = await ask(server.url, query, { input: { submit: { spec } } })
  const violations = readTypeErrors(errors?.[0]?.message ?? '')
  const found = violations.find((each) => each.path === path)
  expect(violations.map((each) => each.path)).toContain(path)
  const field = formPaths.find((own) =>
    listViolationPaths(own).some((each) => path === each || path.startsWith(`${each}.`)),
  )
  expect(field).toBeDefined()
  const text = formatSpecText(spec as DraftSpec)
  const [mark] = markViolations(text, found ? [found] : [])
  expect(text.slice(mark?.from, mark?.to)).toMatch(/^(4711|1.5|wrong)$/i)
})
