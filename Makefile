# make help lists what there is. Everything runs from .venv, which `make setup` makes from the pinned requirements.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= $(firstword $(foreach name,python3.13 python3.12 python3.11 python3,\
  $(shell $(name) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && echo $(name))))
VENV := .venv
IN := $(VENV)/bin/
REQUIREMENTS := requirements-dev.txt layers/wheels/requirements.txt

# Bytecode for Lambda's Python; also found where a version manager keeps it.
LAMBDA_PYTHON := $(firstword $(foreach name,python3.13 $(wildcard $(HOME)/.pyenv/versions/3.13*/bin/python3.13),\
  $(shell $(name) -c "" 2>/dev/null && echo $(name))))
SAM := SAM_CLI_TELEMETRY=0 PYTHON=$(abspath $(IN)python) LAYER_PYTHON=$(LAMBDA_PYTHON) $(IN)sam
REGION := $(or $(AWS_REGION),$(AWS_DEFAULT_REGION),us-east-1)

.PHONY: help setup demo test local bench lint client openapi format build deploy redrive clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(VENV)/ready ## Make .venv with the pinned packages; does nothing where it is up to date

$(VENV)/ready: $(REQUIREMENTS) pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found; set PYTHON=/path/to/it" >&2; exit 1; }
	@echo "== making $(VENV) with $$($(PYTHON) -V); a few minutes the first time"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(IN)python -m pip install --disable-pip-version-check --progress-bar off -r requirements-dev.txt -e . \
	  | grep --line-buffered -E '^(Collecting|Installing|Successfully|ERROR)' | cut -c1-100
	@touch $@

demo: setup ## Bring the local stack up, show what the service promises, take it down (about a minute)
	@$(IN)python -m tests.demo

test: setup lint ## Check and test everything that this machine can
	@echo "== tests"
	@$(IN)python -m pytest -n 2 --dist loadgroup

local: setup ## Keep the local stack up until Ctrl-C; .local/stack.json says how to reach it
	@$(IN)python -m tests.localcloud

bench: setup ## Print the benchmarks, as ratios
	@$(IN)python -m tests.bench

lint: setup ## ruff, mypy
	@echo "== lint"
	@$(IN)ruff check .
	@$(IN)ruff format --check .
	@$(IN)mypy

client: setup ## Make the sync client from the async one
	@$(IN)python -m tests.client.make_sync

openapi: setup ## Write the API's description, functions/health/openapi.json
	@$(IN)python -m tests.openapi

format: setup ## Format the code
	@$(IN)ruff check --fix -q . ; $(IN)ruff format .

build: setup ## Build for Lambda, python3.13 on arm64 (MEMOIR_LAYER_TARGET=x86_64 for the other)
	@AWS_DEFAULT_REGION=$(REGION) $(SAM) build

deploy: build ## Deploy to the AWS account whose credentials are set; the README says what it creates
	@AWS_DEFAULT_REGION=$(REGION) $(SAM) deploy

redrive: ## Move a worker's dead letters back into its queue: make redrive WORKER=table (or diary)
	@$(IN)python -m tests.redrive "$(WORKER)"

clean: ## Remove what was built
	rm -rf .aws-sam .local .mypy_cache .pytest_cache .ruff_cache .hypothesis
