"""Look at what is written in a template or deployed, and say what would lose, repeat or delay messages.

The modules, in the order in which a check passes through them:

    cloudformation/, bicep/, cloud/   read a template, or what is deployed, into descriptions
    deployed, service_bus             the descriptions: a function, the queue that it reads, and its error queue
    rules/                            one function a rule, over one description; `rules.every` lists them all
    command                           print the findings
"""
