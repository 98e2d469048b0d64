import { seededRandom } from '../seeded-random.ts'

/** Expressions that create the file `path` when something evaluates them. */
const ATTACKS = (path: string): string[] => [
  `lookup('pipe', 'touch ${path}')`,
  `query("ansible.builtin.pipe", "touch ${path}")`,
  `lookup('ansible.builtin.template', '/dev/null') ~ lookup('pipe','touch ${path}')`,
  `cycler.__init__.__globals__.os.system('touch ${path}')`,
  `lipsum.__globals__['os'].popen('touch ${path}').read()`,
  `(undef() | default(lookup('lines', 'touch ${path}')))`,
  `['touch ${path}'] | map('extract', {}) | list or lookup('pipe', 'touch ${path}')`,
  `hostvars[inventory_hostname] | string ~ lookup('pipe', 'touch ${path}')`,
]
/** Ways to embed an expression. */
const WRAPPERS: ((attack: string, path: string) => string)[] = [
  (attack) => `{{ ${attack} }}`,
  (attack) => `{{${attack}}}`,
  (attack) => `{{- ${attack} -}}`,
  (attack) => `{% if ${attack} %}yes{% endif %}`,
  (attack) => `{% set x = ${attack} %}{{ x }}`,
  (attack) => `{%- for x in [${attack}] -%}{{ x }}{%- endfor -%}`,
  (attack) => `{# #}{{ ${attack} }}{# #}`,
  (attack) => `{% raw %}{% endraw %}{{ ${attack} }}`,
  (attack) => `{{ '{{' }} ${attack} {{ '}}' }}`,
  (attack) => `#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ ${attack} ]]`,
  (attack) => `"}}" }}{{ ${attack} }}`,
  (attack) => `' ~ ${attack} ~ '`,
  (attack) => `" }, x: "{{ ${attack} }}", y: {z: "`,
  (attack) => `"\n    evil: "{{ ${attack} }}"\n    y: "`,
  (attack) => `!unsafe "{{ ${attack} }}"`,
  (attack) => `!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  {{ ${attack} }}`,
  (attack) => `\\u007b\\u007b ${attack} \\u007d\\u007d`,
  (attack) => `\u0085{{ ${attack} }}\u2028`,
  (attack) => `{"__ansible_unsafe": "{{ ${attack.replaceAll('"', "'")} }}"}`,
  (_, path) => `!!python/object/apply:os.system ["touch ${path}"]`,
  (_, path) => `$(touch ${path})`,
  (_, path) => `\`touch ${path}\``,
  (_, path) => `'; touch ${path} #`,
  (_, path) => `"\n- hosts: all\n  tasks: [{shell: touch ${path}}]\n`,
  (_, path) => `| touch ${path}`,
]
const AFFIXES = [
  '',
  '',
  '',
  ' ',
  '\n',
  '\t',
  "'",
  '"',
  '\\',
  '{',
  '}',
  '{{',
  '}}',
  '%}',
  '#}',
  '---\n',
  '- ',
  ': ',
  '&a ',
  '*a',
  '? ',
  'ü',
  '\u{1f600}',
]

/** A reproducible generator of injection strings, each of which creates its own file in `folder` when evaluated. */
export function maliciousValues(folder: string, seed = 1): () => string {
  const roll = seededRandom(seed)
  const pick = <T>(from: T[]) => from[roll(from.length)]!
  let count = 0
  return () => {
    const path = `${folder}/${++count}`
    return pick(AFFIXES) + pick(WRAPPERS)(pick(ATTACKS(path)), path) + pick(AFFIXES)
  }
}
