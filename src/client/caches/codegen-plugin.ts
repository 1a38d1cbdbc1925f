import {
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql'

/** Plugin of the code generator: writes the facts about the schema that a normalised cache needs. */
export function plugin(schema: GraphQLSchema): string {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
  const abstract = types.filter(isAbstractType)
  const possible = abstract.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)] as const)
  const roots = ['Query', 'Mutation', 'Subscription']
  // The result of a deletion contains the id of the deleted object.
  const isAnswer = (name: string) => /^Delete\w*Success$/.test(name)
  const embedded = types.filter(
    (type) => isObjectType(type) && !roots.includes(type.name) && (isAnswer(type.name) || !('id' in type.getFields())),
  )
  const entities = types.filter(isObjectType).filter((type) => !embedded.includes(type))
  const lists = entities.map((type) => {
    const fields = Object.values(type.getFields()).filter(
      (field) => isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type)),
    )
    return [type.name, fields.map(({ name }) => name)] as const
  })
  const linesOf = (of: readonly (readonly [string, readonly string[]])[]) =>
    of.map(([name, members]) => `  ${name}: ${JSON.stringify(members)},`).join('\n')
  return `/** Members of interfaces and unions. */
export const possibleTypes: Record<string, string[]> = {
${linesOf(possible)}
};

/** Objects without an id of their own: a cache keeps them in the object that has them. */
export const embeddedTypes: readonly string[] = ${JSON.stringify(embedded.map(({ name }) => name))};

/** Fields of the other objects that are lists of objects. */
export const listFields: Record<string, readonly string[]> = {
${linesOf(lists.filter(([, fields]) => fields.length > 0))}
};
`
}
