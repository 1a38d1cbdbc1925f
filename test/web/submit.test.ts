import { describe, expect, it } from 'vitest'
import { readSpecHash } from '../../web/features/spec/spec-link.ts'
import { inputTypes } from '../../web/generated/spec-fields.ts'
import { fillReferences, findUnused, parseSweep, sweepSpecs } from '../../web/pages/submit/combinations.ts'
import { isScript, joinWords, needsShell, splitWords } from '../../web/pages/submit/command-words.ts'
import { findFieldText, formatCommand, parseCommand } from '../../web/pages/submit/field-texts.ts'
import { essentials, findField, moreGroups, readValue, writeValue } from '../../web/pages/submit/spec-fields.ts'
import {
  editSpecText,
  markViolations,
  parseSpecText,
  readField,
  translateFile,
} from '../../web/pages/submit/spec-text.ts'
import { readTypeErrors, readViolations } from '../../web/pages/submit/violations.ts'
import { findType } from '../../web/pages/submit/yaml-completion.ts'

describe('the text of a spec', () => {
  it('keeps its comments when a field changes, and loses objects without fields', () => {
    const text = '# mine\ncommand: [echo] # say\nresources:\n  cpu: 2\n'
    const more = editSpecText(text, [{ path: ['resources', 'gpu'], value: 1 }])
    expect(more).toContain('# mine')
    expect(more).toContain('# say')
    expect(parseSpecText(more).spec).toEqual({ command: ['echo'], resources: { cpu: 2, gpu: 1 } })
    const less = editSpecText(text, [{ path: ['resources', 'cpu'], value: undefined }])
    expect(parseSpecText(less).spec).toEqual({ command: ['echo'] })
    expect(editSpecText('name: a\n', [{ path: ['name'], value: undefined }])).toBe('')
  })

  it('is translated from a job file of the EAI Toolkit, and otherwise unchanged', () => {
    const theirs = translateFile('command: [true]\nmem: 4\nenvironmentVars: [A=b]\n')
    expect(parseSpecText(theirs.text).spec).toEqual({
      command: [true],
      environment: [{ name: 'A', value: 'b' }],
      resources: { memoryGib: 4 },
    })
    const ours = '# mine\ncommand: [echo] # say\n'
    expect(translateFile(ours).text).toBe(ours)
    expect(() => translateFile('options: { remote: true }')).toThrow('options.remote is not a known option')
  })

  it.each([
    ['a: [', 'Flow sequence'],
    ['- a', 'Write fields'],
    ['command: echo hi', 'Write a list: ["echo", "hi"]'],
    ['a: *x', 'alias'],
    [`a: ${'x'.repeat(4_000_000)}`, '4.0 million characters'],
  ])('is refused with an explanation for %.20s', (text, message) => {
    expect(parseSpecText(text).marks[0]?.message).toContain(message)
  })

  it('has violations marked at the value, or at the object if the value is missing', () => {
    const text = 'command: [echo, hi]\nresources:\n  cpu: 0\n'
    const at = (path: string) => {
      const [mark] = markViolations(text, [{ path, message: 'wrong' }])
      return text.slice(mark?.from, mark?.to)
    }
    expect(at('resources.cpu')).toBe('0')
    expect(at('command.1')).toBe('hi')
    expect(at('resources.gpu')).toBe('resources')
    expect(at('name')).toBe('')
  })

  it('can be read from a link in base64url or percent-encoding', () => {
    expect(readSpecHash(`#spec=${Buffer.from('name: é ✓').toString('base64url')}`)).toBe('name: é ✓')
    expect(readSpecHash(`#spec=${encodeURIComponent('{"name":"a b"}')}`)).toBe('{"name":"a b"}')
    expect(readSpecHash('#spec=%E0%A4%A')).toBe(null)
  })
})

describe('the fields of the form', () => {
  it('include each field of the schema once', () => {
    const shown = [...essentials, ...moreGroups.flatMap(({ fields }) => fields.map(({ path }) => path))]
    expect(new Set(shown).size).toBe(shown.length)
    const names = new Set(
      [...shown, 'resources.memoryBytes', 'resources.gpuMemoryBytes'].map((path) => path.split('.')[0]),
    )
    expect([...names].toSorted()).toEqual(Object.keys(inputTypes['JobSpecInput'] ?? {}).toSorted())
    const resources = shown.filter((path) => path.startsWith('resources.'))
    expect(resources.length).toBe(Object.keys(inputTypes['ResourcesInput'] ?? {}).length - 2)
  })

  it.each([
    ['maxRunTimeSeconds', '1 h 30 min', 5_400],
    ['resources.memoryGib', '16 GiB', 16 * 2 ** 30],
    ['resources.memoryGib', '512 MiB', 512 * 2 ** 20],
    ['resources.gpuIds', '0, 1', [0, 1]],
    ['resources.gpuModel', 'Tesla V100, !A100', ['Tesla V100', '!A100']],
    [
      'environment',
      'A=b=c\nD=',
      [
        { name: 'A', value: 'b=c' },
        { name: 'D', value: '' },
      ],
    ],
    ['dependsOn', 'job_1 FAILED', [{ jobId: 'job_1', on: 'FAILED' }]],
    ['internalDns.ports', '80:8080/TCP', [{ port: 80, targetPort: 8_080, protocol: 'TCP' }]],
    ['bid', '42', 42],
    ['arguments', 'a b\nc', ['a b', 'c']],
  ])('write %s as %s', (path, text, value) => {
    const field = findFieldText(path, findField(path).type)
    expect(field.parse(text)).toEqual(value)
    expect(field.format(value)).toBe(text)
  })

  it('keep an invalid text, so that the server refuses it', () => {
    for (const path of ['bid', 'maxRunTimeSeconds', 'resources.memoryGib'])
      expect(findFieldText(path, findField(path).type).parse('abc')).toBe('abc')
  })

  it('write memory as whole GiB, or else as bytes', () => {
    const write = (bytes: number) =>
      parseSpecText(editSpecText('', writeValue('resources.memoryGib', bytes))).spec ?? {}
    expect(write(2 ** 34)).toEqual({ resources: { memoryGib: 16 } })
    expect(write(2 ** 29)).toEqual({ resources: { memoryBytes: 2 ** 29 } })
    expect(readValue(write(2 ** 34), 'resources.memoryGib')).toBe(2 ** 34)
    expect(readField(write(2 ** 29), ['resources', 'memoryGib'])).toBe(undefined)
  })
})

describe('a command', () => {
  it.each([
    ['python train.py --lr 0.1', ['python', 'train.py', '--lr', '0.1']],
    [`echo 'a b' "c \\"d\\"" e\\ f`, ['echo', 'a b', 'c "d"', 'e f']],
    [`a"b c"d ''`, ['ab cd', '']],
    [`echo "open`, ['echo', 'open']],
  ])('is split into words like in a shell: %s', (text, words) => {
    expect(splitWords(text)).toEqual(words)
    expect(splitWords(joinWords(words))).toEqual(words)
  })

  it('is a script if it needs a shell', () => {
    expect(needsShell('ls | wc')).toBe(true)
    expect(needsShell('echo "$HOME"')).toBe(true)
    expect(needsShell(`echo 'a | b' "c | d's" '$HOME' "costs $ 5" \\$HOME`)).toBe(false)
    const script = parseCommand('SCRIPT', 'ls | wc')
    expect(isScript(script)).toBe(true)
    expect(formatCommand(script)).toEqual({ mode: 'SCRIPT', text: 'ls | wc' })
  })
})

describe('a sweep', () => {
  it('makes one job for each combination', () => {
    const sweep = parseSweep('lr = 0.1, 0.01 × seed = 1..4')
    expect(sweep.combinations.length).toBe(8)
    expect(sweep.combinations[1]).toEqual({ lr: '0.1', seed: '2' })
    expect(parseSweep('a = 0..1..0.25').dimensions[0]?.values).toEqual(['0', '0.25', '0.5', '0.75', '1'])
    expect(parseSweep('a = 3..1; b = x y').combinations.length).toBe(3)
  })

  it.each([
    ['lr', 'is not a name with values'],
    ['a = 1; a = 2', 'occurs twice'],
    ['a = 1..1001', 'at most 1,000'],
    ['a = 1..40 x b = 1..40', 'at most 1,000'],
  ])('is refused with an explanation for %s', (text, message) => expect(parseSweep(text).trouble).toContain(message))

  it('replaces references by values, labels the jobs, and numbers their names', () => {
    const sweep = parseSweep('lr = 1..10')
    const spec = { name: 'a', command: ['t', `$\{lr}`, `$\{HOME}`], labels: [{ key: 'lr', value: 'old' }] }
    const specs = sweepSpecs(spec, { sweep, label: 'a-1' })
    expect(specs[2]).toEqual({
      name: 'a-03',
      command: ['t', '3', `$\{HOME}`],
      labels: [
        { key: 'sweep', value: 'a-1' },
        { key: 'lr', value: '3' },
      ],
    })
    expect(findUnused(spec, sweep)).toEqual([])
    expect(findUnused({ command: ['t'] }, sweep)).toEqual(['lr'])
    expect(fillReferences({ a: [`$\{lr}`] }, { lr: '$&' })).toEqual({ a: ['$&'] })
  })
})

describe('the errors of a submission', () => {
  it('have paths relative to the spec', () => {
    const violations = [{ path: ['spec', 'labels', '0', 'key'], message: 'Must not be empty' }]
    expect(readViolations({ message: 'no', violations })).toEqual([
      { path: 'labels.0.key', message: 'Must not be empty' },
    ])
    expect(readViolations({ message: 'no' })).toEqual([{ path: '', message: 'no' }])
  })

  it('name the field if the input does not match the schema', () => {
    const message =
      'Variable "$input.submit.spec.resources.cpu": Float cannot represent non numeric value: "abc"; ' +
      'Variable "$input.submit.spec": Field "foo" is not defined by type "JobSpecInput".; ' +
      'Variable "$input.spec.labels[0]": Field "key" of required type "String!" was not provided.'
    expect(readTypeErrors(message)).toEqual([
      { path: 'resources.cpu', message: 'Must be a number (given: "abc")' },
      { path: 'foo', message: 'This field does not exist' },
      { path: 'labels.0.key', message: 'Must be given' },
    ])
  })
})

it('the completion in YAML suggests the fields of the object that the line belongs to', () => {
  expect(findType([], 0)).toBe('JobSpecInput')
  expect(findType(['name: a', 'resources:', '  cpu: 1'], 2)).toBe('ResourcesInput')
  expect(findType(['resources:', '  cpu: 1', 'name: a'], 0)).toBe('JobSpecInput')
  expect(findType(['labels:', '  - key: a'], 4)).toBe('LabelInput')
  expect(findType(['input:', '  a: 1'], 2)).toBe(null)
})
