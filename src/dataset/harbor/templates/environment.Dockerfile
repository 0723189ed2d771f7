FROM {{image}}
USER root
# What holds answers: the author and the shipped passes.
RUN rm -r /opt/passnet/passnet/bin/passnet-author /opt/passnet/passnet/share/passnet/samples
COPY sample /task/{{name}}
COPY --chown=passnet sample {{directory}}
RUN mkdir {{directory}}/pass_dir && chown passnet /work/{{name}} {{directory}} {{directory}}/pass_dir
USER passnet
WORKDIR {{directory}}
ENTRYPOINT []
CMD ["/bin/bash"]
HEALTHCHECK NONE
