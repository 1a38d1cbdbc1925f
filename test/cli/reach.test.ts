import { buildSchema, type OperationDefinitionNode, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { expandSweep, readParameter } from '../../src/cli/reading/sweep.ts'
import { repository } from '../support/sources.ts'

/** Mutations without a command, and the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  approveJobs: '"berth approve" takes several jobs, each with its version',
  rejectJobs: '"berth reject" takes several jobs, each with its version',
  deleteJob: '"berth rm" sends deleteJobs, also for one job',
  setJobPriority: '"berth priority" sends setJobPriorities, also for one job',
  createSnapshot: '"berth submit --here" sends it by client/files',
  saveView: 'views are lists of the console',
  deleteView: 'views are lists of the console',
}

const textOf = (path: string) => repository.find((file) => file.path === path)?.text ?? ''
const schema = buildSchema(textOf('schema.graphql'))
const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {})

const operations = repository
  .filter(({ path }) => /^src\/client\/documents\/.*\.graphql$/.test(path))
  .flatMap(({ text }) => parse(text).definitions)
  .filter((each): each is OperationDefinitionNode => each.kind === 'OperationDefinition')

/** The command line, and the parts of the client that it calls. */
const callers = repository
  .filter(({ path }) => /^src\/(cli|client\/jobs)\/.*\.ts$/.test(path))
  .map(({ text }) => text)
  .join('\n')

const isReachable = (mutation: string) =>
  operations.some(
    ({ name, selectionSet }) =>
      selectionSet.selections.some((each) => each.kind === 'Field' && each.name.value === mutation) &&
      new RegExp(`\\b(request\\(|mutate\\(cli,)\\s*${name?.value}Document\\b`).test(callers),
  )

describe('every mutation of the API', () => {
  it.each(mutations)('has a command, or a reason in the table why it has none: %s', (mutation) => {
    expect({ mutation, isReachable: isReachable(mutation) }).toEqual({
      mutation,
      isReachable: !(mutation in elsewhere),
    })
  })

  it('is in the schema if the table has a reason for it', () => {
    expect(Object.keys(elsewhere).filter((name) => !mutations.includes(name))).toEqual([])
  })
})

describe('a sweep', () => {
  const parameters = readParameter('seed=1..2', readParameter('lr=0.1,0.01'))

  it('has a job for each combination of values, with these in command, environment and labels', () => {
    const spec = { command: ['train', '--lr={lr}', '{seed}'], name: 'lr {lr}', labels: [{ key: 'team', value: 'ml' }] }
    const specs = expandSweep(spec, parameters, 'abc')
    expect(specs.map(({ command }) => command?.slice(1))).toEqual([
      ['--lr=0.1', '1'],
      ['--lr=0.1', '2'],
      ['--lr=0.01', '1'],
      ['--lr=0.01', '2'],
    ])
    expect(specs[1]).toMatchObject({
      name: 'lr 0.1',
      labels: [
        { key: 'team', value: 'ml' },
        { key: 'sweep', value: 'abc' },
        { key: 'lr', value: '0.1' },
        { key: 'seed', value: '2' },
      ],
      environment: [
        { name: 'lr', value: '0.1' },
        { name: 'seed', value: '2' },
      ],
    })
  })

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of a shell
  it('replaces {name}, keeps shell variables, and unescapes {{name}}', () => {
    const [spec] = expandSweep(
      { command: ['--lr={lr}', 'echo ${lr}', '{{print}}', '{ "a": 1 }'] },
      readParameter('lr=1'),
      's',
    )
    expect(spec?.command).toEqual(['--lr=1', 'echo ${lr}', '{print}', '{ "a": 1 }'])
  })
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: variables of a shell

  it.each([{ command: ['train', '--lr={lrr}'] }, { name: 'lr {lrr}' }, { arguments: ['{lrr}'] }])(
    'refuses a name in braces that is not a parameter in %j',
    (spec) => {
      expect(() => expandSweep(spec, parameters, 's')).toThrow('{lrr} is not a parameter of the sweep')
    },
  )

  it.each(['lr', '=1', 'a b=1', 'seed=4..1', 'seed=1..5000'])('refuses the parameter %s', (given) => {
    expect(() => readParameter(given)).toThrow('Expected')
  })

  it('refuses more than 1000 jobs', () => {
    const many = readParameter('b=1..40', readParameter('a=1..40'))
    expect(() => expandSweep({}, many, 'abc')).toThrow('the sweep has 1600 jobs')
  })
})
