import {
  type ArrowFunction,
  type BindingElement,
  type CallExpression,
  type ConstructorDeclaration,
  type FunctionDeclaration,
  type FunctionExpression,
  type Identifier,
  isArrayBindingPattern,
  isBindingElement,
  isCallExpression,
  isClassDeclaration,
  isConstructorDeclaration,
  isForOfStatement,
  isFunctionDeclaration,
  isIdentifier,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isVariableDeclaration,
  type NewExpression,
  type Node,
  type ParameterDeclaration,
  type VariableDeclaration,
} from 'typescript/unstable/ast'
import type { Symbol as Named } from 'typescript/unstable/sync'
import type { Choices } from './choices.ts'
import type { Program } from './program.ts'
import { isUnknown, readMember, Unknown, unlessRefused, type Value } from './values.ts'

export type AnyFunction = ArrowFunction | ConstructorDeclaration | FunctionDeclaration | FunctionExpression

/** Values of names without a call: constants, functions, and arguments of callers. */
export class Names {
  readonly #program: Program
  readonly #choices: Choices
  readonly #evaluate: (node: Node) => Value
  readonly #known = new Map<number, Value>()
  /** Symbols whose values depend on choices or on themselves. */
  readonly #varying = new Set<number>()
  #variations = 0

  constructor(program: Program, choices: Choices, evaluate: (node: Node) => Value) {
    this.#program = program
    this.#choices = choices
    this.#evaluate = evaluate
  }

  value(symbol: Named): Value {
    const { id } = symbol
    const { constants } = this.#program
    if (constants.has(id)) return constants.get(id)
    if (!this.#known.has(id)) this.#learn(symbol)
    if (this.#varying.has(id)) this.#variations++
    return this.#known.get(id)
  }

  #learn(symbol: Named): void {
    const { id } = symbol
    this.#known.set(id, new Unknown(`${symbol.name}, which needs itself,`))
    this.#varying.add(id)
    const before = this.#choices.made + this.#variations
    const value = unlessRefused(() => this.#declared(symbol))
    this.#known.set(id, value)
    if (this.#choices.made + this.#variations > before) return
    this.#varying.delete(id)
    if (isPlain(value)) this.#program.constants.set(id, value)
  }

  #declared(symbol: Named): Value {
    const declaration = this.#program.declarationOf(symbol)
    if (declaration && isEvaluated(declaration)) {
      if (isFunctionDeclaration(declaration)) return this.#evaluate(declaration)
      if (isVariableDeclaration(declaration)) return this.#variable(declaration)
      if (isBindingElement(declaration)) return this.element(declaration, this.#source(declaration))
      if (isParameterDeclaration(declaration)) return this.#argument(declaration)
    }
    return new Unknown(symbol.name)
  }

  #variable(declaration: VariableDeclaration): Value {
    if (declaration.initializer) return this.#evaluate(declaration.initializer)
    const loop = declaration.parent.parent
    return loop && isForOfStatement(loop) ? this.anyOf(this.#evaluate(loop.expression), loop) : new Unknown(declaration)
  }

  anyOf(list: Value, point: Node): Value {
    if (isUnknown(list)) return list
    const items = [...(list as Iterable<Value>)]
    return items.length === 0 ? new Unknown(point) : items[this.#choices.choose(point, items.length)]
  }

  /** The value that a pattern destructures. */
  #source(element: BindingElement): Value {
    const owner = element.parent.parent
    if (isBindingElement(owner)) return this.element(owner, this.#source(owner))
    if (isParameterDeclaration(owner)) return this.#argument(owner)
    return isVariableDeclaration(owner) ? this.#variable(owner) : new Unknown(owner)
  }

  /** One part of a destructured value. */
  element(element: BindingElement, source: Value): Value {
    const { parent: pattern, propertyName, name, dotDotDotToken, initializer } = element
    const index = isArrayBindingPattern(pattern) ? pattern.elements.indexOf(element) : undefined
    if (dotDotDotToken) return Array.isArray(source) ? source.slice(index) : source
    const value = readMember(source, index ?? ((propertyName ?? name) as Identifier).text, element)
    return value === undefined && initializer ? this.#evaluate(initializer) : value
  }

  /** The argument from one caller, the same caller for all parameters. */
  #argument(parameter: ParameterDeclaration): Value {
    const owner = parameter.parent as AnyFunction
    const index = owner.parameters.indexOf(parameter)
    const call = this.#callerOf(owner)
    if (!call) return this.oneOf(parameter.name, this.#item(owner, index))
    const given = call.arguments?.[index] ?? parameter.initializer
    return given ? this.oneOf(parameter.name, this.#evaluate(given)) : undefined
  }

  #callerOf(owner: AnyFunction): CallExpression | NewExpression | undefined {
    const name = calledAs(owner)
    const calls = name ? this.#program.callsOf(name).filter((call) => !isInside(call, owner)) : []
    return calls[this.#choices.choose(owner, calls.length)]
  }

  /** `list.map((item) => …)` */
  #item(owner: AnyFunction, index: number): Value {
    const call = owner.parent
    const isItem = index === 0 && isCallExpression(call) && isPropertyAccessExpression(call.expression)
    if (!isItem || !/^(map|flatMap|filter)$/.test(call.expression.name.text)) return new Unknown(owner)
    return this.anyOf(this.#evaluate(call.expression.expression), call)
  }

  /** One of the values that its type lists; otherwise `Unknown`. */
  oneOf(node: Node, value: Value): Value {
    if (!isUnknown(value)) return value
    const listed = this.#program.valuesOf(node)
    return listed ? listed[this.#choices.choose(node, listed.length)] : value
  }
}

/** The configuration is known only at run time. Evaluating its rules for each statement would take half of the time. */
function isEvaluated(declaration: Node): boolean {
  const { fileName, isDeclarationFile } = declaration.getSourceFile()
  return !isDeclarationFile && !/\/src\/config(\/.*)?\.ts$/.test(fileName)
}

/** The name by which a function is called; undefined: the function is anonymous. */
function calledAs(owner: AnyFunction): Identifier | undefined {
  if (isFunctionDeclaration(owner)) return owner.name
  const { parent } = owner
  if (isConstructorDeclaration(owner)) return isClassDeclaration(parent) ? parent.name : undefined
  return isVariableDeclaration(parent) && isIdentifier(parent.name) ? parent.name : undefined
}

function isInside(node: Node, outer: Node): boolean {
  for (let at: Node | undefined = node; at; at = at.parent) if (at === outer) return true
  return false
}

/** A closure belongs to the run that created it. */
const isPlain = (value: Value): boolean => ['string', 'number', 'boolean'].includes(typeof value)
