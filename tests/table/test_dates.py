from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.table.dates import (
    LAST_MOMENT,
    as_written,
    day_number,
    days_from_stamps,
    format_day,
    is_date,
    is_no_day,
    parse_date,
    parse_dates,
    read_in,
    stamps_from_days,
    to_microsecond,
    write_in,
)

from .tables import moments


@given(st.datetimes(datetime(1800, 1, 1), datetime(2140, 1, 1)))
def test_microseconds_survive_in_our_centuries(moment):
    assert format_day(day_number(moment), whole=False) == moment


@given(moments)
def test_all_ways_to_days_agree(moment):
    days = day_number(moment)
    assert parse_date(moment.isoformat()) == days
    assert parse_dates([moment.isoformat(" ")]) == [days]
    assert days_from_stamps(np.array([moment], dtype="datetime64[us]"))[0] == days
    assert to_microsecond(np.array([days]))[0] == days


@given(st.floats(-719162, LAST_MOMENT))
def test_rounding_to_the_microsecond_is_final_and_can_be_formatted(days):
    once = to_microsecond(np.array([days]))
    assert to_microsecond(once) == once
    assert abs(once[0] - days) < 1e-11 + 1e-9 * (abs(days) > 60_000)
    assert day_number(format_day(once[0], whole=False)) == once[0]
    assert days_from_stamps(stamps_from_days(once))[0] == once[0]


@given(moments.filter(lambda m: 2 < m.year < 9998), st.integers(-14, 14))
def test_a_zone_is_turned_into_utc(moment, hours):
    local = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert parse_date(local.isoformat()) == day_number(moment - timedelta(hours=hours))


@pytest.mark.parametrize(
    "text", ["2020-02-30", "2020-1-1", "20200101", "today", "now", "2020", "2020-01-01T25:00", "0000-01-01",
             "0001-01-01T00:00+01:00", "9999-12-31T23:59:59.999999",
             "\u0662\u0660\u0662\u0660-01-01", "2020-01-01\n2020-01-01"],
)  # fmt: skip
def test_texts_that_are_no_dates(text):
    assert not is_date(text)
    assert parse_dates([text]) is None
    assert parse_dates(["2020-01-01", text]) is None


def test_nat_is_a_hole_and_other_centuries_are_refused():
    assert np.isnan(days_from_stamps(np.array(["NaT"], dtype="datetime64[s]"))[0])
    assert np.isnat(stamps_from_days(np.array([np.nan]))[0])
    for year in ("20000", "-0001"):
        with pytest.raises(ValueError, match="1 to 9999"):
            days_from_stamps(np.array([f"{year}-01-01"], dtype="datetime64[s]"))


@given(
    st.lists(st.dates(date(1000, 1, 1), date(9999, 12, 31)), min_size=1, max_size=20),
    st.sampled_from(["%d.%m.%Y", "%-d.%-m.%Y", "%-d.%m.%Y", "%-m/%-d/%Y", "%m/%d/%Y"]),
)
def test_dates_come_back_with_the_zeros_that_people_wrote(days, used):
    moments = [datetime(day.year, day.month, day.day) for day in days]
    texts = [write_in(used, moment) for moment in moments]
    assert [read_in(used, text) for text in texts] == moments
    found = as_written(used.replace("%-", "%"), texts)
    assert [write_in(found, moment) for moment in moments] == texts


def test_where_people_did_not_agree_all_zeros_are_written():
    assert as_written("%d.%m.%Y", ["4.7.2020", "04.07.2020"]) == "%d.%m.%Y"


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("31.2.2024", True),
        ("29.02.2023", True),
        ("2023-02-29T10:00", True),
        ("00/07/2020", True),
        ("13/13/20", True),
        ("29.2.2024", False),
        ("02/29/2024", False),
        ("1.5", False),
        ("1.2.3.4", False),
        ("31 February", False),
    ],
)
def test_days_that_do_not_exist(text, none):
    assert is_no_day(text) is none
