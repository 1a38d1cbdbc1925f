import { useEffect, useMemo, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useCanvasColors } from './canvas-colors.ts'
import { type Series, stackValues, type TimeChartProps } from './chart-series.ts'
import { formatAxisTime, formatElapsed, formatStep } from './time-axis.ts'
import styles from './time-chart.module.css'

interface PlotProps extends TimeChartProps {
  height: number
  isLog: boolean
  onHover: (index: number | null) => void
}

/** The canvas of a chart. This file is loaded on demand, because it imports the chart library. */
export function TimeChartPlot(props: PlotProps) {
  const { at, series, isStacked = false, height, axis = 'CLOCK', isLog } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(null)
  const latest = useRef(props)
  latest.current = props
  const fills = series.map(({ color }, i) => [`fill${i}`, `color-mix(in srgb, ${color} 24%, transparent)`])
  const colors = useCanvasColors({
    axis: 'var(--faint)',
    grid: 'var(--line)',
    ...Object.fromEntries([...series.map(({ color }, i) => [`line${i}`, color]), ...fills]),
  })
  const data = useMemo((): UPlot.AlignedData => {
    const isDrawn = (value: number | null) => !isLog || (value !== null && value > 0)
    const values = isStacked
      ? stackValues(series)
      : series.map((each) => each.values.map((value) => (isDrawn(value) ? value : null)))
    return [[...at], ...values]
  }, [at, series, isStacked, isLog])
  const shape = JSON.stringify([series.map(({ name, isDashed }) => [name, isDashed]), isStacked, axis, isLog])
  useEffect(() => {
    const place = box.current
    if (!place) return undefined
    const options = buildOptions(latest, colors, { width: Math.max(place.clientWidth, 1), height })
    const made = new UPlot(options, data, place)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(place.clientWidth, 1), height }))
    observer.observe(place)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [shape, colors, height])
  useEffect(() => plot.current?.setData(data), [data])
  return <div ref={box} className={styles.plot} />
}

type Colors = Readonly<Record<string, string>>

function buildOptions(latest: { current: PlotProps }, colors: Colors, size: { width: number; height: number }) {
  const { series, isStacked, axis = 'CLOCK', isLog, pointer } = latest.current
  const line = (each: Series, i: number): UPlot.Series => ({
    label: each.name,
    stroke: colors[`line${i}`] ?? '',
    width: 1.5,
    ...(isStacked && { fill: colors[`fill${i}`] ?? '' }),
    ...(each.isDashed && { dash: [4, 4] }),
    // Draws lines over missing values, because metrics have values at different steps.
    spanGaps: axis === 'STEP',
  })
  const options: UPlot.Options = {
    ...size,
    ms: 1,
    legend: { show: false },
    padding: [8, 16, 0, 0],
    scales: {
      x: { time: axis === 'CLOCK', range: (_, from, to) => rangeOf(latest.current, from, to) },
      y: { distr: isLog ? 3 : 1, range: (_, min, max) => heightOf(min, max, latest.current) },
    },
    series: [{}, ...series.map(line)],
    // Fills each stacked series only down to the series below it.
    ...(isStacked && { bands: series.slice(1).map((_, i) => ({ series: [i + 2, i + 1] as [number, number] })) }),
    axes: buildAxes(latest, colors),
    cursor: {
      y: false,
      ...(pointer !== undefined && { sync: { key: pointer } }),
      drag: { x: latest.current.onZoom !== undefined, y: false, setScale: false, dist: 4 },
    },
    hooks: {
      setCursor: [({ cursor }) => latest.current.onHover(cursor.idx ?? null)],
      setSelect: [(plot) => zoom(plot, latest.current)],
      draw: [(plot) => drawReference(plot, latest.current, colors)],
    },
  }
  return options
}

const rangeOf = ({ span }: PlotProps, from: number, to: number): UPlot.Range.MinMax => (span ? [...span] : [from, to])

const margin = 0.1
const logBase = 10

function heightOf(min: number | null, max: number | null, props: PlotProps): UPlot.Range.MinMax {
  const { scale = 'ZERO', isLog } = props
  if (scale === 'ZERO' || min === null || max === null) return [isLog ? 1 : 0, topOf(max, props)]
  return isLog ? UPlot.rangeLog(min, max, logBase, true) : UPlot.rangeNum(min, max, margin, true)
}

const headroom = 1.05
const topOf = (max: number | null, { reference }: PlotProps) =>
  Math.max(max ?? 0, reference?.value ?? 0) * headroom || 1

const axisFont = '11px Inter, system-ui, sans-serif'
const characterWidth = 6.5

function buildAxes(latest: { current: PlotProps }, colors: Colors): UPlot.Axis[] {
  const { axis = 'CLOCK', unit } = latest.current
  const look = {
    stroke: colors['axis'] ?? '',
    font: axisFont,
    grid: { stroke: colors['grid'] ?? '', width: 1 },
    ticks: { show: false },
  }
  return [
    {
      ...look,
      grid: { show: false },
      space: 72,
      size: 24,
      ...(axis !== 'CLOCK' && { incrs: axis === 'STEP' ? wholeSteps : elapsedStepsMs }),
      values: (_, splits, __, ___, stepMs) => splits.map((at, i) => axisTexts[axis](at, stepMs, splits[i - 1])),
    },
    {
      ...look,
      gap: 8,
      space: 32,
      ...(unit.steps && { incrs: unit.steps }),
      // The value is null where labels of a logarithmic axis would overlap.
      values: (_, splits) => splits.map((value) => (value === null ? '' : latest.current.unit.format(value))),
      size: (_, values) => Math.max(24, ...(values ?? []).map((text) => text.length * characterWidth + 12)),
    },
  ]
}

const axisTexts = { CLOCK: formatAxisTime, ELAPSED: formatElapsed, STEP: formatStep } as const

const powersMax = 15
const wholeSteps = Array.from({ length: powersMax }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()
const elapsedStepsMs = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800].map(
  (seconds) => seconds * 1_000,
)

const zoomPixelsMin = 4

function zoom(plot: UPlot, { onZoom }: PlotProps) {
  const { left, width } = plot.select
  if (width < zoomPixelsMin) return
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
}

function drawReference(plot: UPlot, { reference }: PlotProps, colors: Colors) {
  if (!reference) return
  const { ctx, bbox } = plot
  const y = Math.round(plot.valToPos(reference.value, 'y', true)) + 0.5
  ctx.save()
  ctx.strokeStyle = colors['axis'] ?? ''
  ctx.setLineDash([6, 4])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.restore()
}
