import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql'

/** Plugin of the code generator: writes the documents and the types of clients/python. */
interface Config {
  write: 'documents' | 'types'
  /** Operations whose documents are written. */
  operations?: readonly string[]
  /** Fragments that become classes, by the name of the class. */
  classes?: Readonly<Record<string, string>>
  /** Classes of berth/_views.py that a class inherits from. */
  bases?: Readonly<Record<string, string>>
  /** Input types that are written with all types that they use. */
  inputs?: readonly string[]
  /** Fields of inputs that are arguments instead of keywords. */
  positional?: readonly string[]
}

export function plugin(schema: GraphQLSchema, files: readonly { document?: DocumentNode }[], config: Config): string {
  const definitions = files.flatMap(({ document }) => document?.definitions ?? [])
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
  if (config.write === 'types') return new TypesOfPython(schema, fragments, config).print()
  const operations = new Map(
    definitions.flatMap((each) =>
      each.kind === Kind.OPERATION_DEFINITION && each.name ? [[each.name.value, each] as const] : [],
    ),
  )
  const texts = (config.operations ?? []).map((name) => {
    const operation = operations.get(name)
    if (!operation) throw new Error(`No document has the operation ${name}`)
    return `${toSnake(name).toUpperCase()} = """${printDocument(operation, fragments)}"""\n`
  })
  return `"""The documents of the client. \`npm run codegen\` writes this file."""\n\n${texts.join('\n')}`
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** The text that the client for TypeScript sends: servers trust exactly these texts. */
function printDocument(operation: OperationDefinitionNode, fragments: Fragments): string {
  const used = new Set<string>()
  const collect = (node: OperationDefinitionNode | FragmentDefinitionNode) => {
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value)
        if (!fragment || used.has(name.value)) return
        used.add(name.value)
        collect(fragment)
      },
    })
  }
  collect(operation)
  const texts = [...fragments].flatMap(([name, fragment]) => (used.has(name) ? [print(fragment)] : []))
  return `\n    ${print(operation)}\n    ${texts.join('\n')}`
}

const toSnake = (name: string) => name.replace(/(?<=[a-z0-9])([A-Z])/g, '_$1').toLowerCase()

const keywords = ['from', 'in', 'is', 'not', 'pass', 'class']
const toAttribute = (name: string) => (keywords.includes(name) ? `${toSnake(name)}_` : toSnake(name))

const scalars: Readonly<Record<string, string>> = {
  Boolean: 'bool',
  Cursor: 'str',
  DateTime: 'datetime',
  Float: 'float',
  ID: 'str',
  Int: 'int',
  JSONObject: 'Dict[str, Any]',
  String: 'str',
  UInt53: 'int',
}

/** Inputs that Python programs write as a mapping. */
const mappings: Readonly<Record<string, string>> = {
  EnvironmentVariableInput: 'Mapping[str, str]',
  LabelFilter: 'Mapping[str, Optional[str]]',
  LabelInput: 'Mapping[str, str]',
}

const header = `"""The types of the API. \`npm run codegen\` writes this file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from .._times import parse_time
from .._views import %
`

interface Attribute {
  name: string
  type: string
  help: string
  /** The expression that reads it from JSON. */
  read: string
}

class TypesOfPython {
  readonly #schema: GraphQLSchema
  readonly #fragments: Fragments
  readonly #config: Config
  readonly #enums = new Set<string>()
  readonly #inputs = new Map<string, string>()
  readonly #classes: string[] = []
  readonly #names: string[] = []

  constructor(schema: GraphQLSchema, fragments: Fragments, config: Config) {
    this.#schema = schema
    this.#fragments = fragments
    this.#config = config
  }

  print(): string {
    const { inputs = [], classes = {}, bases = {} } = this.#config
    for (const name of inputs) this.#addInput(name)
    for (const [fragment, name] of Object.entries(classes)) {
      const node = this.#fragments.get(fragment)
      const type = this.#schema.getType(node?.typeCondition.name.value ?? '')
      if (!node || !isObjectType(type)) throw new Error(`No document has the fragment ${fragment}`)
      this.#addClass(name, type, node.selectionSet)
    }
    const keywordTypes = inputs.map((name) => this.#printKeywords(name))
    const enums = [...this.#enums].sort().map((name) => this.#printEnum(name))
    const imported = [...new Set(Object.values(bases))].sort().join(', ')
    const parts = [header.replace('%', imported), ...enums, ...this.#inputs.values(), ...keywordTypes, ...this.#classes]
    return `${parts.join('\n\n')}\n`
  }

  #printEnum(name: string): string {
    const type = this.#schema.getType(name)
    const values = isEnumType(type) ? type.getValues().map(({ name }) => `    "${name}",\n`) : []
    return `${name} = Literal[\n${values.join('')}]`
  }

  // ── inputs ──

  #addInput(name: string): void {
    const type = this.#schema.getType(name)
    if (this.#inputs.has(name) || !isInputObjectType(type)) return
    this.#inputs.set(name, '')
    const { positional = [] } = this.#config
    const order = (field: GraphQLInputField) =>
      isRequiredInputField(field) ? 0 : positional.includes(field.name) ? 1 : 2
    const fields = Object.values(type.getFields()).toSorted((a, b) => order(a) - order(b))
    const lines = fields.map((field) => {
      const written = this.#inputType(field)
      const declared = isRequiredInputField(field) ? written : `Optional[${written}] = None`
      return `    ${toAttribute(field.name)}: ${declared}\n${printHelp(field)}`
    })
    this.#inputs.set(
      name,
      `@dataclass(frozen=True)\nclass ${nameInput(type)}:\n    ${quote(type.description)}\n\n${lines.join('')}`,
    )
  }

  #printKeywords(name: string): string {
    const type = this.#schema.getType(name)
    if (!isInputObjectType(type)) throw new Error(`The schema has no input ${name}`)
    const { positional = [] } = this.#config
    const lines = Object.values(type.getFields())
      .filter(({ name }) => !positional.includes(name))
      .map((field) => `    ${toAttribute(field.name)}: Optional[${this.#inputType(field)}]\n${printHelp(field)}`)
    const about = `The fields of \`${nameInput(type)}\` as keywords.`
    return `class ${nameInput(type)}Fields(TypedDict, total=False):\n    ${quote(about)}\n\n${lines.join('')}`
  }

  #inputType(field: GraphQLInputField): string {
    const named = getNamedType(field.type)
    const isList = isListType(getNullableType(field.type))
    if (isEnumType(named)) this.#enums.add(named.name)
    this.#addInput(named.name)
    const name = isInputObjectType(named) ? nameInput(named) : (scalars[named.name] ?? named.name)
    if (!isList) return named.name === 'DateTime' ? 'Union[datetime, str]' : name
    const list = `Sequence[${name}]`
    const mapping = mappings[named.name]
    return mapping ? `Union[${mapping}, ${list}]` : list
  }

  // ── outputs ──

  #addClass(name: string, type: GraphQLObjectType, selection: SelectionSetNode): void {
    if (this.#names.includes(name)) return
    this.#names.push(name)
    const attributes = [...this.#attributes(name, type, selection).values()]
    const base = this.#config.bases?.[name]
    const lines = attributes.map(({ name, type, help }) => `    ${name}: ${type}\n${help}`)
    const reads = attributes.map(({ name, read }) => `            ${name}=${read},\n`)
    this.#classes.push(
      `@dataclass(frozen=True)\nclass ${name}${base ? `(${base})` : ''}:\n    ${quote(type.description)}\n\n${lines.join('')}
    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ${name}:
        return cls(\n${reads.join('')}        )\n`,
    )
  }

  /** The fields of a selection, with those of its fragments. */
  #attributes(owner: string, type: GraphQLObjectType, { selections }: SelectionSetNode): Map<string, Attribute> {
    const found = new Map<string, Attribute>()
    const addAll = (more: ReadonlyMap<string, Attribute>) => {
      for (const [name, attribute] of more) found.set(name, attribute)
    }
    for (const node of selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = this.#fragments.get(node.name.value)
        if (fragment) addAll(this.#attributes(owner, type, fragment.selectionSet))
      } else if (node.kind === Kind.FIELD) {
        const field = type.getFields()[node.name.value]
        if (field && isObjectOrLeaf(field)) found.set(field.name, this.#attribute(owner, field, node.selectionSet))
      }
    }
    return found
  }

  #attribute(owner: string, field: GraphQLField<unknown, unknown>, selection?: SelectionSetNode): Attribute {
    const named = getNamedType(field.type)
    const isList = isListType(getNullableType(field.type))
    const isPlain = !isNonNullType(field.type)
    if (named.name === 'Label') return readLabels(field)
    let name = scalars[named.name] ?? named.name
    if (isEnumType(named)) this.#enums.add(named.name)
    if (isObjectType(named) && selection) {
      name = `${owner}${capitalize(isList ? field.name.replace(/s$/, '') : field.name)}`
      this.#addClass(name, named, selection)
    }
    const type = isList ? `List[${name}]` : name
    return {
      name: toAttribute(field.name),
      type: isPlain ? `Optional[${type}]` : type,
      help: printHelp(field),
      read: printRead(field, name),
    }
  }
}

/** Labels are a dictionary. */
const readLabels = (field: GraphQLField<unknown, unknown>): Attribute => ({
  name: toAttribute(field.name),
  type: 'Dict[str, str]',
  help: printHelp(field),
  read: `{each["key"]: each["value"] for each in data["${field.name}"]}`,
})

/** Fields whose type is an interface or a union are left out. */
const isObjectOrLeaf = ({ type }: GraphQLField<unknown, unknown>) =>
  isObjectType(getNamedType(type)) || isLeafType(getNamedType(type))

/** The expression that reads a field from JSON. */
function printRead({ name, type }: GraphQLField<unknown, unknown>, className: string): string {
  const value = `data["${name}"]`
  const named = getNamedType(type)
  const convert = (text: string) => {
    if (isObjectType(named)) return `${className}.from_json(${text})`
    return named.name === 'DateTime' ? `parse_time(${text})` : text
  }
  const isList = isListType(getNullableType(type))
  const read = isList && convert('each') !== 'each' ? `[${convert('each')} for each in ${value}]` : convert(value)
  return isNonNullType(type) || read === value ? read : `None if ${value} is None else ${read}`
}

const nameInput = ({ name }: GraphQLInputObjectType) => (name === 'LabelFilter' ? name : name.replace(/Input$/, ''))

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const quote = (text: string | null | undefined) =>
  `"""${(text ?? '').replaceAll('\\', '\\\\').replaceAll('\n', ' ').replace(/"$/, '\\"')}"""`

const printHelp = ({ description }: { description?: string | null | undefined }) =>
  description ? `    ${quote(description)}\n` : ''
