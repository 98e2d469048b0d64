# Installs or removes the packages of Slurm on a node of a managed cluster. Copy this file to slurm/node.sls in file_roots of the Salt
# master, and adapt it to the site. Muster applies it with the pillar `slurm_node`:
#   role            controller, compute, login or database
#   state           present or absent
#   prefix          folder with an installed Slurm, or null: only munge is installed
#   repository_url, repository_key  package repository and its signing key, or null: the repositories of the node
# The state has no secrets and no configuration: Muster then writes the munge key and starts the services over SSH.
{%- set node = salt['pillar.get']('slurm_node', {}) %}
{%- set role = node.get('role', 'compute') %}
{%- set debian = grains['os_family'] == 'Debian' %}
{%- set slurm = {
  'controller': ['slurmctld', 'slurm-client'], 'compute': ['slurmd', 'slurm-client'],
  'login': ['slurm-client'], 'database': ['slurmdbd']
} if debian else {
  'controller': ['slurm', 'slurm-slurmctld'], 'compute': ['slurm', 'slurm-slurmd'],
  'login': ['slurm'], 'database': ['slurm', 'slurm-slurmdbd']
} %}
{%- set packages = ['munge'] + ([] if node.get('prefix') else slurm[role]) %}
{%- set url = node.get('repository_url') %}
{%- set key = node.get('repository_key') or (url or '') ~ '/repository.asc' %}
{%- set keyring = '/usr/share/keyrings/muster-slurm.' ~ ('gpg' if key.endswith('.gpg') else 'asc') %}

{%- if node.get('state', 'present') == 'absent' %}

slurm_packages:
  pkg.{{ 'purged' if debian else 'removed' }}:
    - pkgs: {{ packages | json }}

slurm_repository:
  file.absent:
    - names:
      - /etc/apt/sources.list.d/muster-slurm.sources
      - /etc/apt/preferences.d/muster-slurm
      - /etc/yum.repos.d/muster-slurm.repo

{%- else %}
{%- if url and debian %}

slurm_repository_key:
  file.managed:
    - name: {{ keyring }}
    - source: {{ key }}
    - skip_verify: True
    - mode: '0644'

slurm_repository:
  file.managed:
    - name: /etc/apt/sources.list.d/muster-slurm.sources
    - contents: |
        Types: deb
        URIs: {{ url }}
        Suites: /
        Architectures: {{ grains['osarch'] }}
        Signed-By: {{ keyring }}
    - require:
      - file: slurm_repository_key

# Distributions have packages of the same names in other versions.
slurm_repository_priority:
  file.managed:
    - name: /etc/apt/preferences.d/muster-slurm
    - contents: |
        Package: *
        Pin: origin "{{ url.split('/')[2].split(':')[0] }}"
        Pin-Priority: 600
    - require_in:
      - pkg: slurm_packages

{%- elif url %}

slurm_repository:
  pkgrepo.managed:
    - name: muster-slurm
    - humanname: slurm
    - baseurl: {{ url }}
    - gpgkey: {{ key }}
    - gpgcheck: 1
    - priority: 50

{%- endif %}

slurm_packages:
  pkg.installed:
    - pkgs: {{ (packages + (['mariadb-server'] if role == 'database' else [])) | json }}
    - refresh: True
    # The package lists are new.
    - skip_suggestions: True
{%- if url %}
    - require:
      - {{ 'file' if debian else 'pkgrepo' }}: slurm_repository
{%- endif %}

{%- endif %}
