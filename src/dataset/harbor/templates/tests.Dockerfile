FROM {{image}}
USER root
COPY sample /task/{{name}}
COPY test.sh /tests/test.sh
ENTRYPOINT []
CMD ["/bin/bash"]
HEALTHCHECK NONE
