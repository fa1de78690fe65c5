"""What Prometheus is told: requests, latencies, mistakes, loss, queries, the journal's lag."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from .plain import Json, Plain
from .service import Service

BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0)


class Measures:
    """Of one server; requests are counted as they are answered, the rest when it is asked for."""

    def __init__(self, service: Service) -> None:
        self.service, self.registry = service, CollectorRegistry()
        self.requests = Counter(
            "onmargin_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self.latency = Histogram(
            "onmargin_latency_seconds", "From request to answer.", ["route"], registry=self.registry,
            buckets=BUCKETS,
        )  # fmt: skip
        self.registry.register(self)
        self._counters: dict[tuple[str, int], Plain] = {}
        self._latencies: Json = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """One more."""
        counter = self._counters.get((route, status))
        if counter is None:
            counter = self._counters[route, status] = self.requests.labels(route, str(status))
            self._latencies.setdefault(route, self.latency.labels(route))
        counter.inc()
        self._latencies[route].observe(seconds)

    def collect(self) -> Iterator[Plain]:
        """Of every model, and of the journal."""
        service, writer = self.service, self.service.writer
        told = (
            ("rounds", "Examples learned."), ("mistakes", "Wrong answers before learning."),
            ("loss", "Summed loss before learning."), ("queries", "Labels wanted since the start."),
        )  # fmt: skip
        families = [CounterMetricFamily(f"onmargin_{name}", text, labels=["model"]) for name, text in told]
        for model in service.names():
            state = service.state(model)
            for (name, _), family in zip(told, families, strict=True):
                family.add_metric([model], state[name])
        yield from families
        for name, text, value in (
            ("journal_lag_seconds", "How long the oldest label waits.", writer.lag()),
            ("journal_waiting", "Labels that wait for the journal.", writer.waiting),
            ("journal_healthy", "Can labels be kept?", float(service.health()["ok"])),
        ):
            yield GaugeMetricFamily(f"onmargin_{name}", text, value)
        yield CounterMetricFamily("onmargin_journal_commits", "Groups written.", writer.commits)
        yield CounterMetricFamily("onmargin_snapshots", "Snapshots made.", service.keeping.saved)

    def text(self) -> bytes:
        """As Prometheus reads it."""
        found: bytes = generate_latest(self.registry)
        return found
