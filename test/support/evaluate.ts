import {
  type BinaryExpression,
  type BindingName,
  type CallExpression,
  type Expression,
  type ForOfStatement,
  type Identifier,
  isBindingElement,
  isBlock,
  isElementAccessExpression,
  isExpressionStatement,
  isForOfStatement,
  isIdentifier,
  isIfStatement,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isShorthandPropertyAssignment,
  isSpreadAssignment,
  isSpreadElement,
  isStringLiteral,
  isThrowStatement,
  isVariableDeclarationList,
  isVariableStatement,
  type NewExpression,
  type Node,
  type ParameterDeclaration,
  type PropertyAccessExpression,
  type Statement,
  SyntaxKind,
  type TemplateExpression,
} from 'typescript/unstable/ast'
import type { Symbol as Named } from 'typescript/unstable/sync'
import type { Choices } from './choices.ts'
import { type AnyFunction, Names } from './names.ts'
import type { Program } from './program.ts'
import {
  extended,
  isUnknown,
  makers,
  NotKnown,
  natives,
  operators,
  Refused,
  readMember,
  Unknown,
  type Value,
} from './values.ts'

type Callable = (...values: Value[]) => Value
/** Values of names, by the number of their symbol. */
interface Scope {
  values: Map<number, Value>
  outer: Scope | undefined
}
type Returned = { value: Value } | undefined

const depthMax = 100

/**
 * Evaluates an expression of the product statically, to find the texts of its statements. Follows constants, templates,
 * functions, their callers, conditions and loops as far as they are known. A value that is known only at run time (a
 * request, a row, the clock) is `Unknown`. An unknown condition takes both branches, and a parameter the argument of
 * each caller, one after the other (`choices.ts`). In a text, an unknown number is 1, and another unknown value is each
 * value that its type lists; otherwise the text is unknown.
 */
export class Evaluator {
  readonly #program: Program
  readonly #choices: Choices
  readonly #names: Names
  #depth = 0

  constructor(program: Program, choices: Choices) {
    this.#program = program
    this.#choices = choices
    this.#names = new Names(program, choices, (node) => this.value(node))
  }

  value(node: Node, scope?: Scope): Value {
    const known = this.#valueOf[node.kind] as ((node: Node, scope: Scope | undefined) => Value) | undefined
    if (!known || this.#depth > depthMax) return new Unknown(node)
    this.#depth++
    try {
      return known(node, scope)
    } catch (error) {
      if (error instanceof NotKnown) return error.value
      if (error instanceof TypeError) return new Unknown(node)
      throw error
    } finally {
      this.#depth--
    }
  }

  readonly #literal = (node: Node & { text: string }) => this.#program.textOf(node)
  readonly #inner = ({ expression }: { expression: Node }, scope: Scope | undefined) => this.value(expression, scope)

  readonly #valueOf: Partial<Record<SyntaxKind, (node: never, scope: Scope | undefined) => Value>> = {
    [SyntaxKind.StringLiteral]: this.#literal,
    [SyntaxKind.NoSubstitutionTemplateLiteral]: this.#literal,
    [SyntaxKind.NumericLiteral]: (node: Node & { text: string }) =>
      Number(this.#program.textOf(node).replaceAll('_', '')),
    [SyntaxKind.TrueKeyword]: () => true,
    [SyntaxKind.FalseKeyword]: () => false,
    [SyntaxKind.NullKeyword]: () => null,
    [SyntaxKind.ParenthesizedExpression]: this.#inner,
    [SyntaxKind.AsExpression]: this.#inner,
    [SyntaxKind.SatisfiesExpression]: this.#inner,
    [SyntaxKind.NonNullExpression]: this.#inner,
    [SyntaxKind.AwaitExpression]: this.#inner,
    [SyntaxKind.TypeOfExpression]: ({ expression }: { expression: Node }, scope) => {
      const value = this.value(expression, scope)
      return isUnknown(value) ? value : typeof value
    },
    [SyntaxKind.RegularExpressionLiteral]: ({ text }: { text: string }) => patternOf(text),
    [SyntaxKind.TemplateExpression]: (node: TemplateExpression, scope) => this.#template(node, scope),
    [SyntaxKind.Identifier]: (node: Identifier, scope) => this.#named(node, scope),
    [SyntaxKind.BinaryExpression]: (node: BinaryExpression, scope) => this.#binary(node, scope),
    [SyntaxKind.ConditionalExpression]: (node: Record<'condition' | 'whenTrue' | 'whenFalse', Node>, scope) =>
      this.value(this.#holds(node.condition, scope) ? node.whenTrue : node.whenFalse, scope),
    [SyntaxKind.PrefixUnaryExpression]: (node: { operator: SyntaxKind; operand: Node } & Node, scope) =>
      this.#unary(node, scope),
    [SyntaxKind.PropertyAccessExpression]: (node: Node, scope) => this.#member(node, scope),
    [SyntaxKind.ElementAccessExpression]: (node: Node, scope) => this.#member(node, scope),
    [SyntaxKind.CallExpression]: (node: CallExpression, scope) => this.#call(node, scope),
    [SyntaxKind.NewExpression]: (node: NewExpression, scope) => this.#made(node, scope),
    [SyntaxKind.ArrowFunction]: (node: AnyFunction, scope) => this.#closure(node, scope),
    [SyntaxKind.FunctionDeclaration]: (node: AnyFunction, scope) => this.#closure(node, scope),
    [SyntaxKind.FunctionExpression]: (node: AnyFunction, scope) => this.#closure(node, scope),
    [SyntaxKind.ArrayLiteralExpression]: (node: { elements: readonly Node[] }, scope) =>
      this.#array(node.elements, scope),
    [SyntaxKind.ObjectLiteralExpression]: (node: { properties: readonly Node[] }, scope) =>
      this.#object(node.properties, scope),
  }

  /** Whether the conditions around the node can be true. */
  reaches(node: Node): boolean {
    const { parent } = node
    if (!parent) return true
    if (isIfStatement(parent) && node !== parent.expression)
      if (this.#holds(parent.expression, undefined) !== (node === parent.thenStatement)) return false
    return this.reaches(parent)
  }

  // ── texts ──

  #template({ head, templateSpans }: TemplateExpression, scope: Scope | undefined): string {
    const { textOf, itemsOf } = this.#program
    const parts = itemsOf(templateSpans).map(
      ({ expression, literal }) => this.#text(expression, scope) + textOf(literal),
    )
    return textOf(head) + parts.join('')
  }

  #text(node: Expression, scope: Scope | undefined): string {
    const value = this.value(node, scope)
    return String(this.#names.oneOf(node, value))
  }

  #named(name: Identifier, scope: Scope | undefined): Value {
    const text = this.#program.textOf(name)
    const symbol = text in natives ? undefined : this.#program.named(name)
    return symbol ? this.#ofSymbol(symbol, scope) : natives[text]
  }

  #ofSymbol(symbol: Named, scope: Scope | undefined): Value {
    for (let inner = scope; inner; inner = inner.outer)
      if (inner.values.has(symbol.id)) return inner.values.get(symbol.id)
    return this.#names.value(symbol)
  }

  // ── operators ──

  #holds(node: Node, scope: Scope | undefined): boolean {
    const value = this.value(node, scope)
    return isUnknown(value) ? this.#choices.choose(node, 2) === 0 : Boolean(value)
  }

  #binary({ left, operatorToken, right }: BinaryExpression, scope: Scope | undefined): Value {
    switch (operatorToken.kind) {
      case SyntaxKind.AmpersandAmpersandToken:
        return this.#holds(left, scope) ? this.value(right, scope) : this.value(left, scope)
      case SyntaxKind.BarBarToken:
        return this.#holds(left, scope) ? this.value(left, scope) : this.value(right, scope)
      case SyntaxKind.QuestionQuestionToken:
        return this.#orElse(left, right, scope)
    }
    const known = operators[operatorToken.kind]
    const [a, b] = known ? [this.value(left, scope), this.value(right, scope)] : []
    const missing = isUnknown(a) ? a : isUnknown(b) ? b : undefined
    return known && !missing ? known(a as number, b as number) : (missing ?? new Unknown(left.parent))
  }

  #orElse(left: Node, right: Node, scope: Scope | undefined): Value {
    const value = this.value(left, scope)
    if (isUnknown(value) && this.#choices.choose(left, 2) === 0) return value
    return isUnknown(value) || value === null || value === undefined ? this.value(right, scope) : value
  }

  #unary(node: { operator: SyntaxKind; operand: Node } & Node, scope: Scope | undefined): Value {
    if (node.operator === SyntaxKind.ExclamationToken) return !this.#holds(node.operand, scope)
    const operand = this.value(node.operand, scope)
    return node.operator === SyntaxKind.MinusToken ? -(operand as number) : new Unknown(node)
  }

  #member(node: Node, scope: Scope | undefined): Value {
    if (isPropertyAccessExpression(node))
      return readMember(this.value(node.expression, scope), this.#program.textOf(node.name), node)
    if (!isElementAccessExpression(node)) return new Unknown(node)
    const key = this.value(node.argumentExpression, scope)
    const object = this.value(node.expression, scope)
    if (!isUnknown(key)) return readMember(object, key as string, node)
    return isUnknown(object) ? object : this.#names.anyOf(Object.values(object as object), node)
  }

  #array(elements: readonly Node[], scope: Scope | undefined): Value[] {
    return this.#program.itemsOf(elements).flatMap((element) => {
      if (!isSpreadElement(element)) return [this.value(element, scope)]
      const spread = this.value(element.expression, scope)
      if (isUnknown(spread)) throw new NotKnown(spread)
      return [...(spread as Iterable<Value>)]
    })
  }

  #object(properties: readonly Node[], scope: Scope | undefined): object {
    const object: Record<string, Value> = {}
    for (const property of this.#program.itemsOf(properties)) {
      if (isPropertyAssignment(property)) object[keyOf(property.name)] = this.value(property.initializer, scope)
      if (isShorthandPropertyAssignment(property))
        object[keyOf(property.name)] = this.#named(property.name as Identifier, scope)
      if (isSpreadAssignment(property)) extended(object, this.value(property.expression, scope))
    }
    return object
  }

  // ── calls ──

  #call(node: CallExpression, scope: Scope | undefined): Value {
    const { expression: callee } = node
    if (isPropertyAccessExpression(callee)) return this.#method(node, callee, scope)
    const called = this.value(callee, scope)
    if (typeof called !== 'function') return new Unknown(node)
    return (called as Callable)(...this.#array(node.arguments, scope))
  }

  #made(node: NewExpression, scope: Scope | undefined): Value {
    const made = isIdentifier(node.expression) && makers[node.expression.text]
    return made ? new made(this.#array(node.arguments ?? [], scope)[0] as never) : new Unknown(node)
  }

  #method(node: CallExpression, callee: PropertyAccessExpression, scope: Scope | undefined): Value {
    const name = this.#program.textOf(callee.name)
    const known = this.value(callee.expression, scope)
    const object = isUnknown(known) && /^(map|flatMap)$/.test(name) ? [known] : known
    const method = readMember(object, name, callee)
    if (typeof method !== 'function') return new Unknown(node)
    const values = this.#array(node.arguments, scope)
    if (Object.values(natives).includes(object) && values.some(isUnknown)) return new Unknown(node)
    const tests = /^(filter|some|every|find)$/.test(name)
    return (method as Callable).apply(object, tests ? values.map((value) => this.#tested(value, node)) : values)
  }

  /** A predicate whose verdict may be unknown. */
  #tested(value: Value, point: Node): Value {
    if (typeof value !== 'function') return value
    return (...values: Value[]) => {
      const verdict = (value as Callable)(...values)
      return isUnknown(verdict) ? this.#choices.choose(point, 2) === 0 : verdict
    }
  }

  #closure(node: AnyFunction, outer: Scope | undefined): Callable {
    return (...values) => {
      const scope: Scope = { values: new Map(), outer }
      for (const [index, parameter] of this.#program.itemsOf(node.parameters).entries())
        this.#receive(parameter, values, index, scope)
      if (!node.body) return new Unknown(node)
      return isBlock(node.body) ? this.#run(node.body.statements, scope)?.value : this.value(node.body, scope)
    }
  }

  #receive(parameter: ParameterDeclaration, values: readonly Value[], index: number, scope: Scope): void {
    const given = parameter.dotDotDotToken ? values.slice(index) : values[index]
    const value = given === undefined && parameter.initializer ? this.value(parameter.initializer, scope) : given
    this.#bind(parameter.name, this.#names.oneOf(parameter.name, value), scope)
  }

  #bind(name: BindingName, value: Value, scope: Scope): void {
    if (isIdentifier(name)) {
      const symbol = this.#program.named(name)
      if (symbol) scope.values.set(symbol.id, value)
      return
    }
    for (const element of name.elements)
      if (isBindingElement(element) && element.name)
        this.#bind(element.name, this.#names.element(element, value), scope)
  }

  /** Returns the result of the statements; undefined: none. */
  #run(statements: readonly Statement[], scope: Scope): Returned {
    for (const statement of this.#program.itemsOf(statements)) {
      const returned = this.#step(statement, scope)
      if (returned) return returned
    }
    return undefined
  }

  #step(node: Statement, scope: Scope): Returned {
    if (isBlock(node)) return this.#run(node.statements, scope)
    if (isReturnStatement(node)) return { value: node.expression ? this.value(node.expression, scope) : undefined }
    if (isThrowStatement(node)) throw new Refused(node.getText())
    if (isExpressionStatement(node)) this.value(node.expression, scope)
    if (isVariableStatement(node))
      for (const { name, initializer } of node.declarationList.declarations)
        this.#bind(name, initializer ? this.value(initializer, scope) : new Unknown(name), scope)
    if (isForOfStatement(node)) return this.#loop(node, scope)
    if (!isIfStatement(node)) return undefined
    const next = this.#holds(node.expression, scope) ? node.thenStatement : node.elseStatement
    return next && this.#step(next, scope)
  }

  #loop({ initializer, expression, statement }: ForOfStatement, scope: Scope): Returned {
    const list = this.value(expression, scope)
    const [declaration] = isVariableDeclarationList(initializer) ? initializer.declarations : []
    for (const item of isUnknown(list) ? [list] : (list as Iterable<Value>)) {
      if (declaration) this.#bind(declaration.name, item, scope)
      const returned = this.#step(statement, scope)
      if (returned) return returned
    }
    return undefined
  }
}

const keyOf = (name: Node): string => (isIdentifier(name) || isStringLiteral(name) ? name.text : name.getText())

function patternOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/')
  return new RegExp(literal.slice(1, end), literal.slice(end + 1))
}
