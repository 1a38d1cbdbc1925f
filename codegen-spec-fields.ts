import {
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isRequiredInputField,
} from 'graphql'

/** Plugin of the code generator: writes the fields of a spec with their help, for forms and editors. */
export function plugin(schema: GraphQLSchema): string {
  const types = new Map<string, object>()
  const add = (name: string) => {
    const type = schema.getType(name)
    if (!isInputObjectType(type) || types.has(name)) return
    const fields = Object.values(type.getFields())
    types.set(name, Object.fromEntries(fields.map((field) => [field.name, describeField(field)])))
    for (const field of fields) add(getNamedType(field.type).name)
  }
  add('JobSpecInput')
  return `export interface InputField {
  /** As in the schema: \`[String!]\`. */
  type: string;
  help: string;
  isRequired?: boolean;
  default?: unknown;
  /** Values of an enumeration. */
  values?: readonly string[];
}

/** The input types of a spec, by name, with their fields. */
export const inputTypes: Readonly<Record<string, Readonly<Record<string, InputField>>>> = ${JSON.stringify(Object.fromEntries(types), null, 2)};
`
}

function describeField(field: GraphQLInputField): object {
  const named = getNamedType(field.type)
  return {
    type: String(field.type),
    help: field.description,
    ...(isRequiredInputField(field) && { isRequired: true }),
    ...(field.defaultValue !== undefined && { default: field.defaultValue }),
    ...(isEnumType(named) && { values: named.getValues().map(({ name }) => name) }),
  }
}
