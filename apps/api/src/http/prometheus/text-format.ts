export type Labels = Record<string, string | null>

/** Lines that begin the samples of a metric. `untyped` is for gauges with a counter's suffix, which promtool rejects. */
export const metricHead = ({ name, help, type }: { name: string; help: string; type: 'gauge' | 'counter' | 'untyped' }): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

/** Labels without a value are omitted. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .flatMap(([name, value]) =>
      value === null
        ? []
        : `${name}="${value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`,
    )
    .join(',')
