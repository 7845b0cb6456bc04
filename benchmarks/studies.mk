# Studies: what takes minutes or hours, and made the tables of the docs. The Makefile at the root includes this one.
.PHONY: simulate outages waves prove crowds interleavings soak drill

simulate: $(READY)      ## attempts, calls and dollars on one to a thousand instances, beside three others: the tables of docs/internals/scale.md; SHORT=1 for less in half a minute
	PYTHONPATH=benchmarks $(BIN)/python -m simulation $(if $(SHORT),--few-fail 3000 --all-fail 100 --instances 1 10)

outages: $(READY)       ## an outage of an hour on both clouds, and what each way to meet it costs: the tables of docs/internals/outages.md; an hour, or SHORT=1 for less in a minute
	PYTHONPATH=benchmarks $(BIN)/python -m simulation.outages $(if $(SHORT),--messages 200 --minutes 20 --instances 1)

waves: $(READY)         ## how messages come back after an outage, by the longest wait: a table of docs/internals/outages.md; a minute
	PYTHONPATH=benchmarks $(BIN)/python -m simulation.outages.waves

prove: $(READY)         ## searches schedules of faults for a lost message: all of one fault, LONGER=500 of more in each scenario, PROCESSES=2 at a time; SEED=2 draws others
	PYTHONPATH=tests $(BIN)/python tests/proof/prove.py --longer $(or $(LONGER),500) --processes $(or $(PROCESSES),2) --seed $(or $(SEED),1)

crowds: $(READY)        ## crowds of messages whose handlers kill, hang, fail or succeed: the tables of docs/internals/proof.md; three minutes
	PYTHONPATH=tests $(BIN)/python -m proof.crowds
	PYTHONPATH=tests $(BIN)/python -m proof.fifo

interleavings: $(READY) ## all 58 million orders in which a trigger is paused, let run and repaired while calls fail; half a minute
	PYTHONPATH=tests $(BIN)/python -m circuits.aws.interleaving

soak: $(READY)          ## 10,000 messages while hosts are killed and connections drop; CLOUD=azure, MESSAGES=1000, SEED=7
	PYTHONPATH=tests $(BIN)/python -m soak $(if $(CLOUD),--cloud $(CLOUD)) $(if $(MESSAGES),--messages $(MESSAGES)) $(if $(SEED),--seed $(SEED))

drill: $(READY)         ## a night drill on each local host: 5,000 messages fail, are sent back, and are processed; CLOUD=azure, MESSAGES=1000
	PYTHONPATH=tests $(BIN)/python -m soak.drill $(if $(CLOUD),--cloud $(CLOUD)) $(if $(MESSAGES),--messages $(MESSAGES))
