import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { buildSpec, type SpecFlags } from '../../src/cli/reading/spec.ts'
import { formatStructured } from '../../src/cli/showing/render.ts'
import { isWhole } from '../support/whole.ts'

const build = (flags: Partial<SpecFlags>, command: string[] = [], yaml: string | null = null) =>
  buildSpec({ yaml, command, flags: { inheritEnv: true, ...flags }, env: { MINE: 'mine' }, warn: () => undefined })

describe('the spec of a submission', () => {
  it('has the workdir of a flag or the job file, and otherwise leaves it to the server', () => {
    expect(build({}, ['echo', 'hi'])).toEqual({ command: ['echo', 'hi'] })
    expect(build({ image: 'ubuntu', data: ['sets/a:/a'] }, ['x'])).toEqual({
      image: 'ubuntu',
      data: ['sets/a:/a'],
      command: ['x'],
    })
    expect(build({ workdir: '~/a' }, ['x']).workdir).toBe('~/a')
    expect(build({}, ['x'], 'workdir: /data').workdir).toBe('/data')
  })

  it('combines the job file with flags, which have precedence', () => {
    const yaml = 'name: a\nresources: { cpu: 4, gpu: 1 }\nlabels: [{ key: k, value: v }]\nmaxRunTimeSeconds: 5'
    expect(build({ name: 'b', cpu: 2, tag: ['t'], label: ['x=1=2'] }, [], yaml)).toEqual({
      name: 'b',
      resources: { cpu: 2, gpu: 1 },
      labels: [
        { key: 'k', value: 'v' },
        { key: 't', value: '' },
        { key: 'x', value: '1=2' },
      ],
      maxRunTimeSeconds: 5,
    })
  })

  it('is refused, with both valid forms, if its command is a string instead of a list', () => {
    const refusal = {
      message: 'command is a text, not a list: echo hi',
      next: 'write command: ["echo", "hi"], or for a shell command: ["sh", "-c", "echo hi"]',
    }
    for (const attempt of [
      () => build({}, [], 'command: echo hi'),
      () => build({ set: ['command=echo hi'] }, []),
      () => build({ set: ['command="echo hi"'] }, ['true']),
    ])
      expect(attempt).toThrow(expect.objectContaining(refusal))
    expect(() => build({}, [], 'executable: echo\narguments: a b')).toThrow('arguments is a text, not a list: a b')
    expect(build({}, ['true'], 'command: echo hi')).toEqual({ command: ['true'] })
  })

  it('includes the values of the scheduling flags', () => {
    const flags = { interactive: true, bid: 42, reservation: 'reservation_1', duration: 60, gpu: 2, gpuIds: [0, 1] }
    expect(build(flags, [], 'image: ubuntu')).toEqual({
      image: 'ubuntu',
      interactive: true,
      bid: 42,
      capacityReservationId: 'reservation_1',
      durationSeconds: 60,
      resources: { gpu: 2, gpuIds: [0, 1] },
    })
  })

  it('includes environment variables of the caller that are given by name', () => {
    expect(build({ env: ['A=1=2', 'MINE', 'EMPTY='] }).environment).toEqual([
      { name: 'A', value: '1=2' },
      { name: 'MINE', value: 'mine' },
      { name: 'EMPTY', value: '' },
    ])
    expect(() => build({ env: ['NOT_THERE'] })).toThrow('NOT_THERE is not set in your environment')
  })

  it('includes any field that --set gives in YAML', () => {
    const spec = build({ set: ['resources.gpuModel=[a100, h100]', 'resumable=true', 'name=007x'] }, ['x'])
    expect(spec).toMatchObject({ resources: { gpuModel: ['a100', 'h100'] }, resumable: true, name: '007x' })
    expect(() => build({ set: ['command.a=1'] }, ['x'])).toThrow('command is not a YAML mapping')
    expect(() => build({ set: ['name'] })).toThrow('no "="')
  })

  it('is refused if its YAML has warnings, or values that JSON cannot represent', () => {
    const file = (yaml: string) => () => build({}, ['x'], yaml)
    expect(file('name: !!js/function x')).toThrow(/not YAML: Unresolved tag: \S+ at line 1, column 7$/)
    expect(file('name: *x')).toThrow(/not YAML: Unresolved alias/)
    expect(file('command: &a [*a]')).toThrow('has an alias (*) that contains itself')
    expect(file('name: a\n---\nname: b')).toThrow('it has more than one document')
    expect(file('resources: { cpu: .inf }')).toThrow('the job file: cpu is Infinity')
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...[...'bcdef'].map((to, i) => `${to}: &${to} [${`*${'abcde'[i]},`.repeat(10)}]`),
    ]
    expect(file(bomb.join('\n'))).toThrow(/not YAML: Excessive alias count/)
    expect(() => build({ set: ['bid=.nan'] }, ['x'])).toThrow('the value of --set bid: NaN')
  })

  it('keeps a field named __proto__, so that the server refuses it', () => {
    const spec = build({ set: ['__proto__.polluted=1', 'resources.__proto__.polluted=1'] }, ['x'])
    expect(JSON.stringify(spec)).toBe(
      '{"command":["x"],"__proto__":{"polluted":1},"resources":{"__proto__":{"polluted":1}}}',
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('has the command of the command line instead of the executable of the job file', () => {
    expect(build({}, ['y'], 'executable: x\narguments: [a]')).toEqual({ command: ['y'] })
  })

  it('is the same if it is read back from --print-spec', () => {
    const spec = build({ mem: 1.5, gpu: 1, after: ['job_1'], attempts: 3, inheritEnv: false, maxRunTime: 60 }, [
      'a',
      '3',
    ])
    expect(build({}, [], stringify(spec))).toEqual(spec)
    expect(parse(stringify(spec))).toEqual(spec)
  })

  it('is the same if it is read back, whatever texts it contains', () => {
    const piece = fc.constantFrom(
      ' ',
      '\n',
      '\r',
      '\t',
      'a',
      '- b: c',
      '#',
      '"',
      "'",
      '\\',
      '<<',
      'é\u2028\x85\x1b',
      'x'.repeat(90),
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.constantFrom('no', '~', 'null', '1e3', '0x1f', '2027-01-01', '---', '*a', '!!x', '.inf', '__proto__'),
    )
    const texts = fc.array(text, { minLength: 1, maxLength: 4 })
    const specs = fc.record({
      command: texts,
      resources: fc.record({ gpuModel: texts }),
      environment: texts.map((all) => all.map((value) => ({ name: value, value }))),
      customAttributes: fc.dictionary(text, fc.jsonValue()),
    })
    fc.assert(
      fc.property(specs, (given) => {
        const spec: unknown = JSON.parse(JSON.stringify(given))
        expect(build({}, [], formatStructured(spec, 'yaml'))).toEqual(spec)
      }),
      { numRuns: isWhole ? 2_000 : 300 },
    )
  })

  it.each([
    ['environment: { A: b }', 'environment is not a list'],
    ['labels: team', 'labels is not a list'],
    ['resources: 5', 'resources is not a YAML mapping'],
    ['resources: [cpu]', 'resources is not a YAML mapping'],
    ['{ cpu: 1, resources: { cpu: 2 } }', 'cpu and resources.cpu are the same field'],
  ])('is refused with the reason for the job file %j', (yaml, message) => {
    expect(() => build({}, ['x'], yaml)).toThrow(`the job file: ${message}`)
  })

  it.each(['- a', 'text', ''])('is refused for the job file %j, which is not a mapping', (yaml) => {
    expect(() => build({}, [], yaml)).toThrow('not a YAML mapping')
  })
})
