# Two commands for newcomers: `make demo` and `make test`. The rest is for those who change the code.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CDK := aws-cdk-lib==2.275.0
SERVERLESS := serverless@3.40.0
PYTHONS ?= 3.11 3.12 3.13 3.14 3.15
# what pyproject.toml bounds from below, and what goes with boto3; the rest of what the tests need is as it is locked
BOUNDED := boto3|botocore|s3transfer|azure-data-tables|azure-functions|azure-identity|azure-servicebus|aws-lambda-powertools|pyyaml|rich|websocket-client
WORKER := azure-functions-runtime==1.3.0
LOWEST_TESTS := $(filter-out tests/test_house_rules.py tests/test_exception_names.py,$(wildcard tests/test_*.py)) $(addprefix tests/,answers aws azure flow ladder observe outgoing rate_limit timeouts)
EMPTY :=
SPACE := $(EMPTY) $(EMPTY)
OLDEST_SERVICE_BUS := azure-servicebus==7.14.3

.PHONY: demo test check all quick steady mutants lowest pythons runtime bench crossings format lock clean properties fuzz release sizes cut bicep cdk docs reference serverless sam

demo: $(READY)          ## orders climb the ladder on AWS, then on Azure, both local; exit status 1 if one is lost; CLOUD=aws or CLOUD=azure for one
	@status=0; for cloud in $(or $(CLOUD),aws azure); do $(BIN)/recoverable demo $$cloud || status=1; done; exit $$status

test: $(READY)          ## everything that CI runs: style and types beside the tests, of which the quick ones come first
	@$(MAKE) --no-print-directory -j 2 check all

# four tests at a time on two cores, for many wait for real time; hundreds of processes start, and each would compile what it imports
all quick runtime steady: export PYTHONDONTWRITEBYTECODE =
all: $(READY)           ## all tests
	$(BIN)/python -m pytest -q -n 4 --dist loadgroup

quick: $(READY)         ## the tests that take no minutes
	$(BIN)/python -m pytest -q -n 4 --dist loadgroup -m "not slow"

steady: $(READY)        ## the suite, or TESTS="tests/aws tests/flow", TIMES=5 in different orders, BUSY=4 beside so many busy processes: names what is not green each time
	PYTHONPATH=tests $(BIN)/python -m steady --times $(or $(TIMES),5) --busy $(or $(BUSY),0) --seed $(or $(SEED),1) $(TESTS)

mutants: $(READY)       ## empties the functions of ROOM=_ladder one after another, and names those that no test of the room misses; TESTS="tests/ladder tests/aws"
	PYTHONPATH=tests $(BIN)/python -m mutants $(ROOM) $(TESTS)

check: $(READY)         ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)         ## ours beside aws-lambda-powertools, as one table
	$(BIN)/python benchmarks/bench.py

crossings: $(READY)     ## how many of the package's files run for one message, and the calls from one of them into another
	$(BIN)/python benchmarks/crossings.py

properties: $(READY)    ## the properties on inputs that no run has tried yet; `make test` tries the same ones each time
	$(BIN)/python -m pytest -n 2 -m hypothesis --hypothesis-profile drawn

fuzz:                   ## a coverage-guided search for records that break a promise, until INPUTS are tried; brings its own tool
	$(PYTHON) -m venv .venv-fuzz
	printf '*\n' > .venv-fuzz/.gitignore
	.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check atheris
	PYTHONPATH=adapters:infra/local:infra/operate:tests .venv-fuzz/bin/python tests/proof/fuzz.py -runs=$(or $(INPUTS),1000000) -max_len=1024 -len_control=0 \
	  -print_final_stats=1 -artifact_prefix=.venv-fuzz/

reference: $(READY)     ## writes the pages of docs/reference that are made of docstrings, parsers and rules
	$(BIN)/python infra/site/reference.py

docs:                   ## builds the site into dist/docs/site, from docs/ and README.md, in an environment of its own; red if a link leads nowhere
	test -x .venv-docs/bin/zensical || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r infra/site/requirements.txt
	.venv-docs/bin/python infra/site/make_site.py

cdk: $(READY)           ## synthesizes the CDK construct in an environment of its own, with Node, and checks and runs what comes out; UPDATE=1 to keep it
	$(PYTHON) -m venv .venv-cdk
	.venv-cdk/bin/python -m pip install --quiet --disable-pip-version-check $(CDK) mypy infra/cdk
	.venv-cdk/bin/python -m mypy --config-file= --strict --python-executable .venv-cdk/bin/python infra/cdk/recoverable_cdk
	rm -rf .venv-cdk/out
	.venv-cdk/bin/python tests/cdk/synthesize.py .venv-cdk/out
	$(if $(UPDATE),cp .venv-cdk/out/*.template.json tests/cdk/synthesized/)
	SYNTHESIZED=.venv-cdk/out $(BIN)/python -m pytest tests/cdk

serverless: $(READY)    ## has the Serverless Framework package the file of its page, and checks what it makes; needs Node
	mkdir -p .venv-serverless
	PYTHONPATH=tests $(BIN)/python -c "from docs.pages import files, page; print(files(page('deploy/aws.md'))['serverless.yml'])" > .venv-serverless/serverless.yml
	touch .venv-serverless/app.py
	npm install --prefix .venv-serverless --silent --no-audit --no-fund --no-save $(SERVERLESS)
	cd .venv-serverless && SLS_TELEMETRY_DISABLED=1 AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none npx serverless package
	$(BIN)/recoverable check .venv-serverless/.serverless/cloudformation-template-update-stack.json

sam:                    ## has the newest SAM CLI look at the templates, in an environment of its own; `make test` has the pinned one do it
	$(PYTHON) -m venv .venv-sam
	.venv-sam/bin/python -m pip install --quiet --disable-pip-version-check --upgrade aws-sam-cli
	for template in template.yaml functions/aws/*/template.yaml; do \
	  SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=eu-central-1 .venv-sam/bin/sam validate --lint --template $$template || exit 1; \
	done

release: $(READY)       ## builds wheels and sdists of all distributions into dist/, and checks metadata, contents, and each in a clean environment; TAG=v1.2.3
	PYTHONPATH=infra/release $(BIN)/python -m release check $(if $(TAG),--tag $(TAG))

sizes: $(READY)         ## how large each distribution's wheel is, packed and unpacked, and how many modules it has
	PYTHONPATH=infra/release $(BIN)/python -m release sizes

cut: $(READY)           ## makes what is not released yet the release of VERSION=1.2.3, in the changelog and in each pyproject.toml
	PYTHONPATH=infra/release $(BIN)/python -m release cut $(VERSION)

runtime: $(READY)       ## all tests but those of the local cloud: enough when only the runtime changed
	$(BIN)/python -m pytest -q -n 4 --dist loadgroup -m "not local_cloud"

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lowest: LOWEST_INSTALL = .venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --constraints .venv-lowest/locked.txt
lowest:                 ## the tests that need no server on the oldest versions that pyproject.toml allows, in an environment of their own
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	grep -v -i -E '^($(BOUNDED))(\[.*\])?==' requirements-dev.txt > .venv-lowest/locked.txt
	$(LOWEST_INSTALL) --requirements tests/lowest.in --editable ".[aws,azure,powertools,s3]"
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --no-deps --editable infra/operate --editable infra/local
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --no-deps --target .venv-lowest/azure-servicebus-oldest $(OLDEST_SERVICE_BUS)
	.venv-lowest/bin/python -m pytest -q -n 2 --dist loadgroup -m "not slow" $(LOWEST_TESTS)
	$(LOWEST_INSTALL) --requirements tests/lowest.in --editable ".[operate]" # which needs newer ones of some
	.venv-lowest/bin/python -m pytest -q -n 2 --dist loadgroup -m "not slow" tests/operate tests/test_exception_names.py

pythons: $(READY)       ## the tests that need no server on each Python that is here or can be installed; PYTHONS="3.12 3.13" for some
	@PATH="$(subst $(SPACE),:,$(wildcard $(HOME)/.pyenv/versions/*/bin)):$$PATH"; status=0; \
	for version in $(PYTHONS); do \
	  $(BIN)/uv python find $$version >/dev/null 2>&1 || $(BIN)/uv python install --quiet --no-bin $$version >/dev/null 2>&1; \
	  if python=$$($(BIN)/uv python find --no-project --system $$version 2>/dev/null); then \
	    echo "Python $$version: $$python"; \
	    $(MAKE) --no-print-directory quick VENV=.venv-$$version PYTHON=$$python || status=1; \
	  else echo "Python $$version: not here, and it cannot be installed; nothing is run on it"; fi; \
	done; exit $$status

bicep: $(READY)         ## compiles infra/azure for the tests of `recoverable check`, with the Bicep compiler that is here
	PYTHONPATH=tests $(BIN)/python -m operate.check.compile_bicep

lock:                   ## resolve requirements-dev.in again
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	  --upgrade --quiet requirements-dev.in --output-file requirements-dev.txt

clean:
	rm -rf .venv .venv-* .aws-sam .mypy_cache .ruff_cache .pytest_cache

include benchmarks/studies.mk

$(READY): requirements-dev.txt pyproject.toml infra/local/pyproject.toml infra/operate/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	# Microsoft's worker asks for Python 3.13 and runs on older ones; without it no test could run a Function there
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python $(WORKER)
	# some suites run on the oldest azure-servicebus that is allowed too: it lies beside the newest, and comes first when a test asks for it
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/azure-servicebus-oldest $(OLDEST_SERVICE_BUS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . --editable infra/operate --editable infra/local
	touch $(READY)
