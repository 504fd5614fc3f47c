"""A JSON API for the tests, by Django REST framework, on a free loopback port.

Records belong to a realm and a type. Each realm is a world of its own. A list is at
/api/REALM/STYLE/TYPE/, where the style is that of its pages: `page`, `offset`, `cursor`, or
`throttled`, which are pages by cursor at a few requests a second. Realms whose names begin with
`hard` forget deleted records; all others list them in answers to `updated_since`, with a mark.

  rest-api.py DIRECTORY    prints the port, and serves until it is killed
"""

import json
import os
import sys
import threading
import time

import django
from django.conf import settings

directory = sys.argv[1]
settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.path.join(directory, "records.sqlite3"),
            "OPTIONS": {"timeout": 60, "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"},
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "rest_framework.authtoken"],
    # The length of answers, and tags of pages with answers to conditional requests.
    MIDDLEWARE=["django.middleware.common.CommonMiddleware", "django.middleware.http.ConditionalGetMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    },
    ROOT_URLCONF="__main__",
    SECRET_KEY="tests",
    USE_TZ=True,
    DATA_UPLOAD_MAX_MEMORY_SIZE=None,
)
django.setup()

from django.core.management import call_command
from django.db import connection, models, transaction
from django.urls import path
from rest_framework import pagination, serializers, throttling
from rest_framework.authtoken.models import Token
from rest_framework.response import Response
from rest_framework.views import APIView


class Record(models.Model):
    realm = models.TextField()
    type = models.TextField()
    key = models.TextField()
    content = models.JSONField(null=True)
    changed = models.BigIntegerField()
    seq = models.BigIntegerField()

    class Meta:
        app_label = "tests"
        unique_together = [("realm", "type", "key")]
        indexes = [
            models.Index(fields=["realm", "type", "seq"]),
            # So that a count of a long list is quick.
            models.Index(fields=["realm", "type", "seq"], name="live", condition=models.Q(content__isnull=False)),
        ]


lock = threading.Lock()
last_seq = 0


def next_seq():
    global last_seq
    last_seq += 1
    return last_seq


def milliseconds():
    return time.time_ns() // 1_000_000


def text_of_time(number):
    seconds, rest = divmod(number, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"


class RecordSerializer(serializers.BaseSerializer):
    """The content with a few members of the API's own."""

    def to_representation(self, record):
        shown = dict(record.content or {})
        shown["id"] = record.key
        shown["changed_at"] = text_of_time(record.changed)
        if record.content is None:
            shown["deleted"] = True
        return shown


class Pages(pagination.PageNumberPagination):
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 5000


class Offsets(pagination.LimitOffsetPagination):
    default_limit = 100
    max_limit = 5000


class Cursors(pagination.CursorPagination):
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 5000
    ordering = "seq"


class FewRequests(throttling.UserRateThrottle):
    rate = "8/second"


STYLES = {"page": Pages, "offset": Offsets, "cursor": Cursors, "throttled": Cursors}


class List(APIView):
    def get_throttles(self):
        return [FewRequests()] if self.kwargs["style"] == "throttled" else []

    def get(self, request, realm, style, type):
        rows = Record.objects.filter(realm=realm, type=type)
        since = request.query_params.get("updated_since")
        if since is None:
            rows = rows.filter(content__isnull=False)
        else:
            # As text with milliseconds, so that it compares with the time of a record.
            stamp = serializers.DateTimeField().to_internal_value(since)
            rows = rows.filter(changed__gte=int(stamp.timestamp() * 1000))
        # The newest come first, so that each write moves the pages.
        rows = rows.order_by("seq" if STYLES[style] is Cursors else "-seq")
        pages = STYLES[style]()
        found = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(RecordSerializer(found, many=True).data)

    def post(self, request, realm, style, type):
        """Loads records at once, as a test's preparation."""
        with lock, transaction.atomic():
            now = milliseconds()
            Record.objects.bulk_create(
                Record(realm=realm, type=type, key=each.pop("id"), content=each, changed=now, seq=next_seq())
                for each in request.data
            )
        return Response({"loaded": len(request.data)})


class Single(APIView):
    def get(self, request, realm, style, type, key):
        record = Record.objects.filter(realm=realm, type=type, key=key).first()
        return self.shown(record)

    def shown(self, record, status=200):
        if record is None:
            return Response({"detail": "There is no such record."}, status=404)
        if record.content is None:
            return Response(RecordSerializer(record).data, status=200)
        return Response(RecordSerializer(record).data, status=status, headers={"ETag": f'"{record.seq}"'})

    def refusal(self, request, record):
        exists = record is not None and record.content is not None
        wanted = request.headers.get("If-Match")
        if wanted is not None and (not exists or wanted != f'"{record.seq}"'):
            return Response({"detail": "Another client was faster."}, status=412)
        if request.headers.get("If-None-Match") == "*" and exists:
            return Response({"detail": "There is such a record."}, status=412)
        version = request.data.get("changed_at") if isinstance(request.data, dict) else None
        if version is not None and exists and version != text_of_time(record.changed):
            return Response({"detail": "Another client was faster."}, status=409)
        return None

    def put(self, request, realm, style, type, key):
        with lock, transaction.atomic():
            record = Record.objects.filter(realm=realm, type=type, key=key).first()
            refusal = self.refusal(request, record)
            if refusal is not None:
                return refusal
            content = {k: v for k, v in request.data.items() if k not in ("id", "changed_at", "deleted")}
            record = record or Record(realm=realm, type=type, key=key, changed=0)
            record.content = content
            # Each change has a greater time than the one before.
            record.changed = max(milliseconds(), record.changed + 1)
            record.seq = next_seq()
            record.save()
        return self.shown(record)

    def delete(self, request, realm, style, type, key):
        with lock, transaction.atomic():
            record = Record.objects.filter(realm=realm, type=type, key=key).first()
            refusal = self.refusal(request, record)
            if refusal is not None:
                return refusal
            if record is None or record.content is None:
                return Response({"detail": "There is no such record."}, status=404)
            if realm.startswith("hard"):
                record.delete()
            else:
                record.content = None
                record.changed = max(milliseconds(), record.changed + 1)
                record.seq = next_seq()
                record.save()
        return Response(status=204)


urlpatterns = [
    path("api/<str:realm>/<str:style>/<str:type>/", List.as_view()),
    path("api/<str:realm>/<str:style>/<str:type>/<str:key>/", Single.as_view()),
]


def main():
    from django.contrib.auth.models import User
    from django.core.wsgi import get_wsgi_application
    from waitress.server import create_server

    call_command("migrate", verbosity=0, run_syncdb=True)
    with connection.schema_editor() as editor:
        editor.create_model(Record)
    Token.objects.create(user=User.objects.create_user("tests"), key="tests-token")
    server = create_server(get_wsgi_application(), host="127.0.0.1", port=0, threads=4, ident=None)
    print(server.effective_port, flush=True)
    server.run()


if __name__ == "__main__":
    main()
